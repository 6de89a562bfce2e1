package io.conclave.connection;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.OptionalLong;

/**
 * Lets a few lines of one kind into the log in ten seconds, and counts those that are left out: what strangers can
 * cause must not fill the disk that the log needs. Thread-safe.
 */
public final class LineLimit {
    /** The time for which lines are counted. */
    public static final Duration INTERVAL = Duration.ofSeconds(10);

    private final TimeSource time;
    private final int most;

    // All below: @GuardedBy("this").
    private long sinceNanos;
    private int lines;
    private long leftOut;

    /**
     * No line yet.
     *
     * @param most how many there may be in ten seconds
     */
    public LineLimit(TimeSource time, int most) {
        this.time = time;
        this.most = most;
    }

    /** How many were left out since the last line, if this one may be written; it is left out otherwise. */
    public synchronized OptionalLong next() {
        long now = time.monotonicNanos();
        if (lines == 0 || now - sinceNanos >= INTERVAL.toNanos()) {
            sinceNanos = now;
            lines = 0;
        }
        if (lines == most) {
            leftOut++;
            return OptionalLong.empty();
        }
        lines++;
        long before = leftOut;
        leftOut = 0;
        return OptionalLong.of(before);
    }
}
