package io.conclave.consensus;

import io.conclave.consensus.entry.ClusterConfiguration;

/** What the log tells the server, on the log's thread; must not block or throw. */
public interface LogListener {

    /** Hears nothing. */
    LogListener NONE = new LogListener() {
        @Override
        public void leading(long term) {}

        @Override
        public void deposed() {}

        @Override
        public boolean noted(int member, byte[] note) {
            return true;
        }

        @Override
        public void told(int member, byte[] note) {}

        @Override
        public void serving(boolean serving) {}

        @Override
        public void configured(ClusterConfiguration configuration) {}
    };

    /** This member leads in the term, and the term's first entry is applied. */
    void leading(long term);

    /** This member does not lead any more. */
    void deposed();

    /**
     * On the leader: a member's application has something to say; see {@link ReplicatedLog#readIndex}.
     *
     * @return false if this one does not understand it: the read index is not given then
     */
    boolean noted(int member, byte[] note);

    /** A member's application, which led, has something to say to this one; see {@link ReplicatedLog#tell}. */
    void told(int member, byte[] note);

    /**
     * Whether clients may be served: the member has a leader, has caught up with what was committed when it met it in
     * this start, and has not lost sight of the majority for too long. False also before a snapshot replaces the state:
     * those that are connected must go then.
     */
    void serving(boolean serving);

    /**
     * Another member claims that this one's disk was set back. It takes no part from now on, and nothing of its state
     * may be served in this life, also not to those who take old data.
     */
    default void suspended() {}

    /** A configuration is committed. */
    void configured(ClusterConfiguration configuration);
}
