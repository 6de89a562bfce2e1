package io.conclave.consensus.member;

import io.conclave.consensus.core.Core;
import java.util.function.Consumer;

/**
 * Whether clients may be served: once this member has caught up with what was committed when it met a leader in this
 * start, and as long as there was a leader, or a majority, not too long ago. After a snapshot replaced the state, and
 * after a longer silence, it has to catch up again.
 */
final class ServingRule {
    private static final byte[] NO_NOTE = new byte[0];

    private final long stopAfterMs;
    private final Core core;
    private final PendingReads reads;
    private final Consumer<Boolean> listener;
    private boolean serving;

    /** The request for the read index up to which to catch up; 0 while none is asked for. */
    private long asked;

    ServingRule(long stopAfterMs, Core core, PendingReads reads, Consumer<Boolean> listener) {
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
     */
    boolean look(long nowMs, boolean stuck, boolean alone, boolean hasLeader) {
        if (stuck && serving) {
            stop();
        }
        if (serving && !alone && nowMs - core.status().heardLeaderMs() > stopAfterMs) {
            set(false);
        }
        if (stuck || serving || asked != 0 || !hasLeader) {
            return false;
        }
        asked = reads.addInternal(this::reached);
        core.readIndex(nowMs, asked, NO_NOTE);
        return true;
    }

    /** When there was neither a leader nor a majority to be heard for too long, if none is heard any more. */
    long nextLookMs(boolean alone) {
        return serving && !alone ? core.status().heardLeaderMs() + stopAfterMs + 1 : Long.MAX_VALUE;
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
