package io.conclave.connection;

import java.util.concurrent.TimeUnit;

/**
 * How many there were in the last second, about. What is added goes evenly, as many in a second as there may be: where
 * more come all the time, one after the other finds room, and not all of a second at its beginning. Guarded by its
 * owner.
 */
final class RecentCount {
    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    /** Less than one: what the rounding of a division may leave. */
    private static final double ROUNDING = 1e-6;

    private final double most;
    private double count;
    private long atNanos;

    /** @param most how many there may be in a second */
    RecentCount(long most, long nowNanos) {
        this.most = most;
        this.atNanos = nowNanos;
    }

    /** How many are left by now. */
    double at(long nowNanos) {
        count = Math.max(0, count - (nowNanos - atNanos) / NANOS_PER_SECOND * most);
        atNanos = nowNanos;
        return count;
    }

    /**
     * Whether there is room for another one.
     *
     * @param bound at most the number of a second
     */
    boolean hasRoom(long nowNanos, long bound) {
        return at(nowNanos) + 1 <= bound + ROUNDING;
    }

    void add() {
        count++;
    }
}
