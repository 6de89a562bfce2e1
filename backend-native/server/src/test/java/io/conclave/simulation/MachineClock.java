package io.conclave.simulation;

import java.util.function.LongSupplier;

/** The clocks of a machine, which run a little too fast or too slowly, and the wall's may jump. */
final class MachineClock {
    /** No monotonic clock is farther from the truth than this. */
    static final double MAX_DRIFT = 0.01;

    private static final long WALL_ORIGIN_MS = 1_700_000_000_000L;

    private final LongSupplier nowUs;
    private double rate = 1;
    private double readUs;
    private long sinceUs;
    private long wallOffsetMs;

    /**
     * @param originUs where its monotonic time begins
     * @param wallAheadMs how much its wall clock is ahead at first
     */
    MachineClock(LongSupplier nowUs, long originUs, long wallAheadMs) {
        this.nowUs = nowUs;
        this.readUs = originUs;
        this.wallOffsetMs = wallAheadMs - originUs / 1000;
    }

    /** From now on it runs at this rate. */
    void rate(double newRate) {
        readUs = exactUs();
        sinceUs = nowUs.getAsLong();
        rate = newRate;
    }

    double rate() {
        return rate;
    }

    void jump(long ms) {
        wallOffsetMs += ms;
    }

    private double exactUs() {
        return readUs + (nowUs.getAsLong() - sinceUs) * rate;
    }

    long monotonicNanos() {
        return (long) (exactUs() * 1000);
    }

    long monotonicMs() {
        return (long) (exactUs() / 1000);
    }

    long wallMs() {
        return WALL_ORIGIN_MS + (long) (exactUs() / 1000) + wallOffsetMs;
    }

    /** How long it really takes until the clock has moved on by so much, rounded up. */
    long realUs(double clockUs) {
        return (long) Math.ceil(clockUs / rate);
    }
}
