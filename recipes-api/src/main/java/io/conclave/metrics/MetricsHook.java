package io.conclave.metrics;

import java.time.Duration;

/**
 * Receives counts and durations; an adapter to the application's metrics library implements it.
 *
 * <p>Called from any thread, also hot ones: it must be thread-safe and must not block; one that does
 * holds up the session's pings. Names are stable and dotted, and
 * begin with the recipe: {@code lock.wait}, {@code lock.held}, {@code lock.lost}, {@code election.lost};
 * docs/metrics.md lists them all. The subject is a path, a connect string or an endpoint. {@code session.lost} is
 * counted once for each session that a coordinator lost.
 */
public interface MetricsHook {
    /** Ignores everything. */
    MetricsHook NONE = new MetricsHook() {};

    /** Something happened once. */
    default void count(String name, String subject) {}

    /** Something took this long. */
    default void duration(String name, String subject, Duration duration) {}
}
