package io.conclave.server;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs a step again and again, one at a time, until it is stopped. Thread-safe. */
final class RepeatedStep {
    private static final Logger LOG = LoggerFactory.getLogger(RepeatedStep.class);

    private final TimeSource time;
    private final Executor executor;
    private final LongSupplier step;
    private volatile boolean stopped;

    /**
     * @param executor runs the step, which may block
     * @param step returns the milliseconds until it is to run again; must not throw
     */
    RepeatedStep(TimeSource time, Executor executor, LongSupplier step) {
        this.time = time;
        this.executor = executor;
        this.step = step;
    }

    void start(long delayMs) {
        time.schedule(Duration.ofMillis(delayMs), this::hand);
    }

    void stop() {
        stopped = true;
    }

    private void hand() {
        if (stopped) {
            return;
        }
        try {
            executor.execute(() -> start(step.getAsLong()));
        } catch (RejectedExecutionException e) {
            LOG.debug("The server is being closed", e);
        }
    }
}
