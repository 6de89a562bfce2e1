package io.conclave.line;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.time.TimeSource;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The interrupt of a loss meets the work or nothing, whenever the loss, another interrupt and the work's end come. */
class LossInterruptTest {
    private static final int ROUNDS = Integer.getInteger("conclave.interrupt.rounds", 300);
    private static final int MAX_SPINS = 400;

    private final long seed = Long.getLong("conclave.interrupt.seed", new Random().nextLong());
    private final Random random = new Random(seed);
    private final ExecutorService threads = Executors.newFixedThreadPool(2);
    private volatile int sink;

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    /** How work takes an interrupt. */
    private enum Work {
        /** It does not look. */
        DEAF,
        /** It throws InterruptedException, which clears the flag. */
        THROWS,
        /** It clears the flag and goes on. */
        SWALLOWS
    }

    private void spin(int spins) {
        for (int i = 0; i < spins; i++) {
            sink++;
        }
    }

    /** Blocking would answer to the interrupts that are tested. */
    private static void awaitWithoutBlocking(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.yield();
        }
    }

    private LossInterrupt interruptOfThisThread() {
        return LossInterrupt.begin(TimeSource.system());
    }

    private static void end(LossInterrupt interrupt, boolean byInterrupt) {
        @Nullable Throwable failure = byInterrupt ? new InterruptedException() : null;
        interrupt.end(failure, failure);
    }

    /** How many interrupts the work has seen by exception, and whether it ended by that. */
    private int work(Work kind, int spins) {
        int seen = 0;
        for (int i = 0; i < spins; i++) {
            sink++;
            if (i % 100 == 99) {
                Thread.yield(); // so that the others come in between on a machine with much to do
            }
            if (kind != Work.DEAF && Thread.interrupted()) {
                seen++;
                if (kind == Work.THROWS) {
                    return seen;
                }
            }
        }
        return seen;
    }

    @Test
    void lossLeavesNoInterruptBehindWheneverItComes() {
        for (int round = 0; round < ROUNDS; round++) {
            String what = "round " + round + " of seed " + seed;
            LossInterrupt interrupt = interruptOfThisThread();
            AtomicBoolean started = new AtomicBoolean();
            int before = random.nextInt(MAX_SPINS);
            Work kind = Work.values()[random.nextInt(3)];
            Future<?> loss = threads.submit(() -> {
                awaitWithoutBlocking(started::get);
                spin(before);
                interrupt.onLoss();
            });
            started.set(true);
            int seen = work(kind, random.nextInt(MAX_SPINS));
            end(interrupt, kind == Work.THROWS && seen > 0);
            assertFalse(Thread.currentThread().isInterrupted(), what);
            awaitWithoutBlocking(loss::isDone);
            assertFalse(Thread.interrupted(), "after the work, in " + what);
        }
    }

    @Test
    void interruptFromElsewhereBeforeTheLossIsNotLost() {
        for (int round = 0; round < ROUNDS; round++) {
            String what = "round " + round + " of seed " + seed;
            LossInterrupt interrupt = interruptOfThisThread();
            AtomicBoolean started = new AtomicBoolean();
            Thread worker = Thread.currentThread();
            int before = random.nextInt(MAX_SPINS);
            int between = random.nextInt(MAX_SPINS);
            Work kind = random.nextBoolean() ? Work.DEAF : Work.THROWS;
            Future<?> others = threads.submit(() -> {
                awaitWithoutBlocking(started::get);
                spin(before);
                worker.interrupt();
                spin(between);
                interrupt.onLoss();
            });
            started.set(true);
            int seen = work(kind, random.nextInt(MAX_SPINS));
            end(interrupt, seen > 0);
            boolean isSet = Thread.interrupted();
            awaitWithoutBlocking(others::isDone);
            boolean isSetLater = Thread.interrupted();
            assertTrue(seen > 0 || isSet || isSetLater, what);
        }
    }

    @Test
    void interruptFromElsewhereAfterTheWorkStays() {
        for (int round = 0; round < ROUNDS / 10; round++) {
            LossInterrupt interrupt = interruptOfThisThread();
            Future<?> loss = threads.submit(interrupt::onLoss);
            work(Work.DEAF, random.nextInt(MAX_SPINS));
            interrupt.end(null, null);
            Thread.currentThread().interrupt();
            assertTrue(Thread.interrupted(), "round " + round + " of seed " + seed);
            awaitWithoutBlocking(loss::isDone);
            assertFalse(Thread.interrupted(), "round " + round + " of seed " + seed);
        }
    }

    @Test
    void workThatClearsAnInterruptFromElsewhereIsInterruptedForTheLossStill() {
        LossInterrupt interrupt = interruptOfThisThread();
        Thread.currentThread().interrupt();
        interrupt.onLoss();
        assertTrue(Thread.interrupted(), "by another thread");
        while (!Thread.interrupted()) {
            Thread.onSpinWait();
        }
        interrupt.end(null, null);
    }
}
