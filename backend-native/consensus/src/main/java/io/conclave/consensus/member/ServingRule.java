package io.conclave.consensus.member;

import java.util.function.Consumer;

/**
 * Whether clients may be served: once this member has caught up with what was committed when it met a leader in this life,
 * and as long as there was a leader, or a majority, not too long ago. After a snapshot replaced the state, and after a
 * longer silence, it has to catch up again.
 */
final class ServingRule {
    private final long stopAfterMs;
    private final Consumer<Boolean> listener;
    private boolean serving;

    /** The confirmation that says up to where to catch up; 0 while none is asked for. */
    private long confirmation;

    ServingRule(long stopAfterMs, Consumer<Boolean> listener) {
        this.stopAfterMs = stopAfterMs;
        this.listener = listener;
    }

    /** Whether a confirmation is to be asked for. */
    boolean wantsConfirmation(boolean hasLeader) {
        return !serving && confirmation == 0 && hasLeader;
    }

    void asked(long id) {
        confirmation = id;
    }

    /** What was committed at that confirmation is applied. */
    void reached(long id) {
        if (id == confirmation) {
            confirmation = 0;
            set(true);
        }
    }

    /** @param quietMs for how long there was neither a leader nor a majority to be heard */
    void quiet(long quietMs) {
        if (quietMs > stopAfterMs) {
            set(false);
        }
    }

    /** Not any more, until it has caught up anew. */
    void stop() {
        confirmation = 0;
        set(false);
    }

    boolean isServing() {
        return serving;
    }

    private void set(boolean value) {
        if (serving != value) {
            serving = value;
            listener.accept(value);
        }
    }
}
