package io.conclave.connection;

/** A request that waits for its turn to be answered. Belongs to the connection's loop. */
interface PendingAnswer {

    /** One that waits for its turn only. */
    static PendingAnswer ready(Runnable answer) {
        return new PendingAnswer() {
            @Override
            public boolean isReady() {
                return true;
            }

            @Override
            public void answer() {
                answer.run();
            }
        };
    }

    /** Whether it can be answered now: reads always, writes once their outcome is known. */
    boolean isReady();

    /**
     * A later write of the same connection has been applied, and with it everything committed before this request was
     * made.
     */
    default void settle() {}

    /**
     * Whether no later request but a ping may be handled before this is answered: nothing settles it, so the requests
     * behind it would be answered from a state that has later writes of the same connection.
     */
    default boolean holdsNext() {
        return false;
    }

    /** Answers it; called once, when it is ready and all before it have been answered. */
    void answer();
}
