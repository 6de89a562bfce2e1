package io.conclave.server;

import io.conclave.consensus.ReplicatedLog;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks from the timer's thread whether the log's thread still takes turns. That thread waits for the disk, so a disk
 * that hangs stops it, and with it every rule that it keeps itself.
 *
 * <p>It asks for a turn and counts how often it then looks in vain. It does not measure the time since it asked: a
 * process that slept as a whole looks too late, and must not take its own sleep for the disk's. For the same reason
 * each look is arranged by a thread that never waits for the disk, which so shows that the process gets to run.
 */
final class LogWatchdog {
    private static final Logger LOG = LoggerFactory.getLogger(LogWatchdog.class);

    /** However short the ticks are: a thread that waits for a busy machine does not stand still. */
    private static final long LEAST_STANDSTILL_MS = 5_000;

    /**
     * When the log has stood still for so many times the time after which the server stops serving, the process ends.
     */
    private static final int STANDSTILLS_BEFORE_THE_END = 6;

    /** After so many looks in vain the server stops serving. */
    private static final int LOOKS_BEFORE_STANDSTILL = 8;

    /** What is done about it; not to block. On the timer's or the log's thread, one call at a time. */
    interface Rescue {
        /** The log's thread stands still: what clients are shown may be long out of date. */
        void stopServing();

        /** It takes turns again. */
        void serveAgain();

        /** It has stood still for so long that its owner must see it. */
        void giveUp(Duration stoodStill);
    }

    private final ReplicatedLog log;
    private final TimeSource time;
    private final Executor otherThread;
    private final Duration interval;
    private final Optional<Integer> looksBeforeGivingUp;
    private final Rescue rescue;

    // All below: @GuardedBy("this").
    private int looksInVain;
    private boolean asked;
    private boolean stopped;
    private TimeSource.@Nullable Timer timer;

    /**
     * @param otherThread never waits for the disk
     * @param stopServingAfter how long the log's thread may stand still
     * @param giveUpAfter how long until it is given up; never if empty
     */
    LogWatchdog(
            ReplicatedLog log,
            TimeSource time,
            Executor otherThread,
            Duration stopServingAfter,
            Optional<Duration> giveUpAfter,
            Rescue rescue) {
        this.log = log;
        this.time = time;
        this.otherThread = otherThread;
        this.interval = stopServingAfter.dividedBy(LOOKS_BEFORE_STANDSTILL);
        this.looksBeforeGivingUp = giveUpAfter.map(
                after -> (int) (LOOKS_BEFORE_STANDSTILL * after.toMillis() / stopServingAfter.toMillis()));
        this.rescue = rescue;
    }

    /** That of a server. One inside an application must not end that: there it only stops serving. */
    static LogWatchdog of(
            ServerConfig config, ReplicatedLog log, TimeSource time, Executor otherThread, Rescue rescue) {
        Duration stopServingAfter =
                Duration.ofMillis(Math.max(LEAST_STANDSTILL_MS, ServerLogOptions.stopServingAfterMs(config)));
        Optional<Duration> giveUpAfter =
                config.clientPort().map(port -> stopServingAfter.multipliedBy(STANDSTILLS_BEFORE_THE_END));
        return new LogWatchdog(log, time, otherThread, stopServingAfter, giveUpAfter, rescue);
    }

    /** Looks after an interval, and so on. */
    synchronized void start() {
        if (!stopped) {
            timer = time.schedule(interval, this::look);
        }
    }

    synchronized void stop() {
        stopped = true;
        if (timer != null) {
            timer.cancel();
        }
    }

    private synchronized void look() {
        if (stopped) {
            return;
        }
        otherThread.execute(this::start);
        if (!asked) {
            asked = true;
            log.execute(this::answered);
            return;
        }
        looksInVain++;
        if (looksInVain == LOOKS_BEFORE_STANDSTILL) {
            LOG.error(
                    "The log has not moved for {} ms, probably because its disk hangs: not serving until it moves",
                    stoodStill().toMillis());
            rescue.stopServing();
        }
        if (looksBeforeGivingUp.isPresent() && looksInVain == looksBeforeGivingUp.get()) {
            rescue.giveUp(stoodStill());
        }
    }

    private Duration stoodStill() {
        return interval.multipliedBy(looksInVain);
    }

    private synchronized void answered() {
        asked = false;
        if (looksInVain >= LOOKS_BEFORE_STANDSTILL && !stopped) {
            LOG.warn("The log moves again after {} ms", stoodStill().toMillis());
            rescue.serveAgain();
        }
        looksInVain = 0;
    }
}
