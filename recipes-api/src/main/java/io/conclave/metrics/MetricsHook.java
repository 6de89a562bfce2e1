package io.conclave.metrics;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/**
 * Receives counts and durations, and is told when waits and holds begin and end; an adapter to the application's
 * metrics library implements it.
 *
 * <p>Called from any thread, also hot ones: it must be thread-safe and must not block; one that does holds up the
 * session's pings. Names are stable and dotted, and begin with the recipe: {@code lock.wait}, {@code lock.held}, {@code
 * lock.lost}, {@code election.lost}; docs/metrics.md lists them all. The subject is a path, a connect string or an
 * endpoint. {@code session.lost} is counted once for each session that a coordinator lost.
 *
 * <p>What is begun is also told as a duration, under the same name, when it has ended: a wait if it was granted, a hold
 * in any case. So an adapter takes the durations, or the beginnings and ends, or both for different ends.
 */
public interface MetricsHook {
    /** Ignores everything. */
    MetricsHook NONE = new MetricsHook() {};

    /** Something happened once. */
    default void count(String name, String subject) {}

    /** Something took this long. */
    default void duration(String name, String subject, Duration duration) {}

    /**
     * A wait or a hold begins. A wait that a call of the application begins is told on that call's thread, so that an
     * adapter can find what the call belongs to. What follows it is told by {@link Ongoing#next}.
     *
     * @return what is told how it goes on and ends; {@link Ongoing#NONE} if nobody wants to know
     */
    default Ongoing begin(String name, String subject) {
        return Ongoing.NONE;
    }

    /**
     * A hook that tells all of these. What one of them throws is logged, and keeps nothing from the others nor from the
     * caller.
     */
    static MetricsHook of(MetricsHook... hooks) {
        List<MetricsHook> guarded = Arrays.stream(hooks)
                .filter(hook -> hook != NONE)
                .<MetricsHook>map(GuardedMetrics::new)
                .toList();
        return switch (guarded.size()) {
            case 0 -> NONE;
            case 1 -> guarded.get(0);
            default -> new SeveralHooks(guarded);
        };
    }
}
