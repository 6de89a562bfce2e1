package io.conclave.consensus.member;

import io.conclave.consensus.core.Core;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Whether clients may be served: once this member has caught up with what was committed when it met a leader in this
 * start, and as long as there was a leader, or a majority, not too long ago. After a snapshot replaced the state, and
 * after a longer silence, it has to catch up again.
 *
 * <p>A leader that is heard but cannot be told anything is as good as silent: it gets no acknowledgement, so it sends
 * nothing but heartbeats, and the state here stands still.
 */
final class ServingRule {
    private static final byte[] NO_NOTE = new byte[0];

    private final long stopAfterMs;
    private final Core core;
    private final PendingReads reads;
    private final Consumer<Boolean> listener;
    private boolean serving;

    /** When there last was a link to the leader, or this member led. */
    private long reachedLeaderMs;

    /** The request for the read index up to which to catch up; 0 while none is asked for. */
    private long asked;

    ServingRule(long nowMs, long stopAfterMs, Core core, PendingReads reads, Consumer<Boolean> listener) {
        this.reachedLeaderMs = nowMs;
        this.stopAfterMs = stopAfterMs;
        this.core = core;
        this.reads = reads;
        this.listener = listener;
    }

    /**
     * Looks at where things stand; whether it asks the core for a read index.
     *
     * @param stuck this member cannot follow any leader
     * @param alone it is its own majority
     * @param reachesLeader it leads, or has a link to the leader
     */
    boolean look(long nowMs, boolean stuck, boolean alone, boolean hasLeader, boolean reachesLeader) {
        if (reachesLeader) {
            reachedLeaderMs = nowMs;
        }
        if (stuck && serving) {
            stop();
        }
        if (serving && !alone && nowMs - inTouchMs() > stopAfterMs) {
            set(false);
        }
        if (stuck || serving || asked != 0 || !hasLeader) {
            return false;
        }
        asked = reads.addInternal(this::reached);
        core.readIndex(nowMs, asked, NO_NOTE);
        return true;
    }

    /** When a leader was last heard and could be told something; on the leader, when a majority was heard. */
    private long inTouchMs() {
        return Math.min(core.status().heardLeaderMs(), reachedLeaderMs);
    }

    /** When there was neither a leader nor a majority to be heard for too long, if none is heard any more. */
    long nextLookMs(boolean alone) {
        return serving && !alone ? inTouchMs() + stopAfterMs + 1 : Long.MAX_VALUE;
    }

    /** Why there is no leader, or none that will do, in one sentence; empty if there is one. */
    String noLeaderReason(long nowMs) {
        return core.leader() == 0 ? core.noLeaderReason(nowMs) : unreachableLeader(nowMs);
    }

    /** Why the leader there is will not do; empty if it does. */
    String unreachableLeader(long nowMs) {
        return core.leader() != 0 && nowMs - reachedLeaderMs > stopAfterMs
                ? "this server hears server " + core.leader() + ", which leads, but has had no link to it for "
                        + TimeUnit.MILLISECONDS.toSeconds(stopAfterMs) + " s or more, so it serves no clients"
                : "";
    }

    /** Everything up to the read index is applied. */
    private void reached(long id) {
        if (id == asked) {
            asked = 0;
            set(true);
        }
    }

    /** Not any more, until it has caught up anew. */
    void stop() {
        asked = 0;
        set(false);
    }

    private void set(boolean value) {
        if (serving != value) {
            serving = value;
            listener.accept(value);
        }
    }
}
