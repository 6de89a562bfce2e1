package io.conclave.locks;

import java.time.Duration;
import java.util.Objects;

/**
 * How long a process keeps its place at the head of a lock's line ({@link KeptLock}), and how far it may favor its own
 * callers while other processes wait.
 *
 * @param idle how long a place is kept after a release while nobody wants it; zero to keep it only as long as callers
 *     of this process wait
 * @param handOvers how often a place is passed on in memory while another contender waits for it; 0 to give way at the
 *     next release
 * @param time how long a place is passed on in memory while another contender waits for it
 */
public record Keeping(Duration idle, int handOvers, Duration time) {
    /** {@link #handOvers()} if not set: the cost of a place is spread over so many grants. */
    public static final int DEFAULT_HAND_OVERS = 100;

    /** {@link #time()} if not set. */
    public static final Duration DEFAULT_TIME = Duration.ofMillis(100);

    /**
     * Such limits.
     *
     * @throws IllegalArgumentException if one of them is negative
     */
    public Keeping {
        checkNotNegative("idle time", Objects.requireNonNull(idle, "idle"));
        checkNotNegative("time of hand-overs", Objects.requireNonNull(time, "time"));
        if (handOvers < 0) {
            throw new IllegalArgumentException(
                    "Invalid number of hand-overs " + handOvers + ": it must not be negative");
        }
    }

    /**
     * Keeps a place for so long after a release; {@value #DEFAULT_HAND_OVERS} hand-overs and 100 ms while others wait.
     *
     * @throws IllegalArgumentException if the time is negative
     */
    public static Keeping idleFor(Duration idle) {
        return new Keeping(idle, DEFAULT_HAND_OVERS, DEFAULT_TIME);
    }

    /** With another number of hand-overs while others wait. */
    public Keeping withHandOvers(int newHandOvers) {
        return new Keeping(idle, newHandOvers, time);
    }

    /** With another time of hand-overs while others wait. */
    public Keeping withTime(Duration newTime) {
        return new Keeping(idle, handOvers, newTime);
    }

    private static void checkNotNegative(String what, Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException("Invalid " + what + " " + duration + ": it must not be negative");
        }
    }
}
