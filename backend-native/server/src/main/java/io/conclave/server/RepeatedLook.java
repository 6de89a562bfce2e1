package io.conclave.server;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks at files every two seconds, one look at a time, until it is stopped. Thread-safe. */
final class RepeatedLook {
    private static final Logger LOG = LoggerFactory.getLogger(RepeatedLook.class);
    static final Duration INTERVAL = Duration.ofSeconds(2);

    private final Runnable look;
    private final RepeatedStep steps;

    /** @param executor runs the look, which may block */
    RepeatedLook(TimeSource time, Executor executor, Runnable look) {
        this.look = look;
        this.steps = new RepeatedStep(time, executor, this::step);
    }

    void start() {
        steps.start(INTERVAL.toMillis());
    }

    void stop() {
        steps.stop();
    }

    /** What fails once is tried again. */
    private long step() {
        try {
            look.run();
        } catch (RuntimeException | Error e) {
            LOG.error("A look at files has failed; the next one follows", e);
        }
        return INTERVAL.toMillis();
    }
}
