package io.conclave.coordinator;

import io.conclave.metrics.MetricsHook;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps what an application's metrics hook throws away from its callers: a grant is on its way, and must arrive. */
record GuardedMetrics(MetricsHook hook) implements MetricsHook {
    private static final Logger LOG = LoggerFactory.getLogger(GuardedMetrics.class);

    @Override
    public void count(String name, String subject) {
        try {
            hook.count(name, subject);
        } catch (RuntimeException | Error e) {
            LOG.error("The metrics hook failed to count {} of {}", name, subject, e);
        }
    }

    @Override
    public void duration(String name, String subject, Duration duration) {
        try {
            hook.duration(name, subject, duration);
        } catch (RuntimeException | Error e) {
            LOG.error("The metrics hook failed to take the duration {} of {}", name, subject, e);
        }
    }
}
