package io.conclave.testkit.driver;

import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * Moves manual time from timer to timer, but only while all threads of the run wait; so a run takes as long as its
 * work, not as long as its timeouts.
 */
final class Pump {
    /** Nothing waits in real time; if nothing comes to rest for this long, something spins or sleeps. */
    private static final Duration SAFETY_NET = Duration.ofSeconds(60);

    private static final int QUICK_LOOKS = 3;
    private static final int CAREFUL_LOOKS = 50;
    private static final int LAST_LOOKS = 5_000;
    private static final Duration WITHOUT_TIMERS = Duration.ofSeconds(1);
    private static final TimeSource REAL = TimeSource.system();

    private final ManualTimeSource time;
    private final QuietThreads threads;
    private final BooleanSupplier onRest;

    /** How waiting for something ended. */
    enum End {
        /** It came. */
        DONE,
        /** It had not come when the bound of manual time had passed and everybody waited. */
        OUT_OF_TIME,
        /** The threads never came to rest, in real time. */
        RESTLESS
    }

    /**
     * Creates a pump.
     *
     * @param onRest called when everybody waits; true if it has set something going, so that time must not move yet
     */
    Pump(ManualTimeSource time, QuietThreads threads, BooleanSupplier onRest) {
        this.time = time;
        this.threads = threads;
        this.onRest = onRest;
    }

    /** Moves time until the condition holds or the bound has passed. */
    End until(BooleanSupplier done, Duration bound) throws InterruptedException {
        long realStartNanos = REAL.monotonicNanos();
        long startNanos = time.monotonicNanos();
        while (!done.getAsBoolean()) {
            if (REAL.monotonicNanos() - realStartNanos > SAFETY_NET.toNanos()) {
                return End.RESTLESS;
            }
            long leftNanos = bound.toNanos() - (time.monotonicNanos() - startNanos);
            // The later it is, the more a thread that only looks as if it waited would spoil.
            int looks = leftNanos > bound.toNanos() / 2 ? QUICK_LOOKS : leftNanos > 0 ? CAREFUL_LOOKS : LAST_LOOKS;
            if (!threads.isQuiet(looks)) {
                threads.awaitStep();
            } else if (!onRest.getAsBoolean()) {
                if (leftNanos <= 0) {
                    return done.getAsBoolean() ? End.DONE : End.OUT_OF_TIME;
                }
                advance();
            }
        }
        return End.DONE;
    }

    private void advance() {
        time.advance(time.untilNextTimer().orElse(WITHOUT_TIMERS));
    }
}
