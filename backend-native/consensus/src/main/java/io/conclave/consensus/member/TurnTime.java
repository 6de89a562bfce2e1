package io.conclave.consensus.member;

import java.util.function.LongSupplier;

/** The member's monotonic time, in milliseconds, as it was read when its turn began or something arrived. */
final class TurnTime {
    private final LongSupplier clock;
    private long nowMs;

    TurnTime(LongSupplier clock) {
        this.clock = clock;
        read();
    }

    void read() {
        nowMs = clock.getAsLong();
    }

    long nowMs() {
        return nowMs;
    }
}
