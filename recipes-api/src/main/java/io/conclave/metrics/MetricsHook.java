package io.conclave.metrics;

import java.time.Duration;

/**
 * Receives counts and durations; an adapter to the application's metrics library implements it.
 *
 * <p>Called from any thread, also hot ones: it must be thread-safe and must not block. Names are stable and dotted, such as {@code lock.wait}, {@code
 * lock.held}, {@code grant.lost}, {@code session.lost}; the subject is a path or an endpoint.
 */
public interface MetricsHook {
    /** Ignores everything. */
    MetricsHook NONE = new MetricsHook() {};

    /** Something happened once. */
    default void count(String name, String subject) {}

    /** Something took this long. */
    default void duration(String name, String subject, Duration duration) {}
}
