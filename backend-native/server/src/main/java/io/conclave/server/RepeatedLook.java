package io.conclave.server;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks at something every two seconds, one look at a time, until it is stopped. Thread-safe. */
final class RepeatedLook {
    private static final Logger LOG = LoggerFactory.getLogger(RepeatedLook.class);
    static final Duration INTERVAL = Duration.ofSeconds(2);

    private final TimeSource time;
    private final Executor executor;
    private final Runnable look;
    private volatile boolean stopped;

    /** @param executor runs the look, which may block */
    RepeatedLook(TimeSource time, Executor executor, Runnable look) {
        this.time = time;
        this.executor = executor;
        this.look = look;
    }

    void start() {
        time.schedule(INTERVAL, this::hand);
    }

    void stop() {
        stopped = true;
    }

    private void hand() {
        if (stopped) {
            return;
        }
        try {
            executor.execute(this::step);
        } catch (RejectedExecutionException e) {
            LOG.debug("The server is being closed", e);
        }
    }

    /** What fails once is tried again. */
    private void step() {
        try {
            look.run();
        } catch (RuntimeException | Error e) {
            LOG.error("A look at files has failed; the next one follows", e);
        }
        start();
    }
}
