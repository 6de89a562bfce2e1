package io.conclave.line;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Work within other work, which share a thread and its flag: each loss is told to the work that it concerns. */
class NestedLossInterruptTest {
    private static final int ROUNDS = Integer.getInteger("conclave.interrupt.rounds", 300);

    private final long seed = Long.getLong("conclave.interrupt.seed", new Random().nextLong());
    private final Random random = new Random(seed);
    private final Looks looks = new Looks();
    private final LossInterrupt outer = LossInterrupt.begin(looks);
    private final ExecutorService threads = Executors.newFixedThreadPool(2);

    /** A clock that stands; the looks that wait for it are taken when the test says so. */
    private static final class Looks implements TimeSource {
        final Deque<Runnable> waiting = new ArrayDeque<>();

        @Override
        public long monotonicNanos() {
            return 0;
        }

        @Override
        public long wallMillis() {
            return 0;
        }

        @Override
        public synchronized Timer schedule(Duration delay, Runnable action) {
            assertEquals(Duration.ofMillis(10), delay);
            waiting.add(action);
            return () -> {};
        }

        void take() {
            List<Runnable> due;
            synchronized (this) {
                due = new ArrayList<>(waiting);
                waiting.clear();
            }
            due.forEach(Runnable::run);
        }
    }

    @AfterEach
    void nothingStaysBehind() {
        Thread.interrupted();
        outer.end(null, null);
        looks.take();
        assertEquals(0, looks.waiting.size());
        assertFalse(Thread.interrupted());
        threads.shutdownNow();
    }

    private static void end(LossInterrupt interrupt, @Nullable Throwable failure) {
        interrupt.end(failure, failure);
    }

    @Test
    void currentWorkIsTheInnermostOneAndLiesWithinThoseAroundIt() {
        LossInterrupt before = LossInterrupt.begin(looks);
        end(before, null);
        LossInterrupt inner = LossInterrupt.begin(looks);
        assertSame(inner, LossInterrupt.current());
        assertTrue(inner.isWithin(inner));
        assertTrue(inner.isWithin(outer));
        assertFalse(outer.isWithin(inner));
        assertFalse(inner.isWithin(before));
        assertFalse(before.isWithin(inner));
        end(inner, null);
        assertSame(outer, LossInterrupt.current());
    }

    @Test
    void outerWorkIsInterruptedWhenInnerWorkThatWasToldFirstEnds() {
        LossInterrupt inner = LossInterrupt.begin(looks);
        inner.onLoss();
        outer.onLoss();
        end(inner, null);
        assertTrue(Thread.interrupted(), "of the outer one");
        looks.take();
        assertFalse(Thread.interrupted(), "it came already");
    }

    @Test
    void outerWorkIsInterruptedWhenInnerWorkTakesTheInterruptAndGoesOn() {
        LossInterrupt inner = LossInterrupt.begin(looks);
        inner.onLoss();
        outer.onLoss();
        assertTrue(Thread.interrupted(), "of the inner one");
        looks.take();
        assertTrue(Thread.interrupted(), "of the outer one");
        end(inner, null);
        assertTrue(Thread.interrupted(), "again, since the inner one may have taken it");
    }

    @Test
    void interruptThatInnerWorkTookComesToTheOuterOne() {
        LossInterrupt inner = LossInterrupt.begin(looks);
        outer.onLoss();
        inner.onLoss();
        assertTrue(Thread.interrupted());
        inner.end(new InterruptedException(), new IllegalStateException("lost"));
        assertTrue(Thread.interrupted());
    }

    @Test
    void interruptThatComesOutOfInnerWorkIsNotSentAgain() {
        LossInterrupt inner = LossInterrupt.begin(looks);
        outer.onLoss();
        assertTrue(Thread.interrupted());
        end(inner, new InterruptedException());
        looks.take();
        assertFalse(Thread.interrupted());
    }

    @Test
    void workThatCleansUpAfterItsInterruptIsNotInterruptedByWhatItRuns() {
        outer.onLoss();
        assertTrue(Thread.interrupted());
        end(LossInterrupt.begin(looks), null);
        looks.take();
        assertFalse(Thread.interrupted());
    }

    @Test
    void interruptThatOuterWorkHasNotTakenYetIsSentAgain() {
        outer.onLoss();
        LossInterrupt inner = LossInterrupt.begin(looks);
        assertTrue(Thread.interrupted());
        end(inner, null);
        assertTrue(Thread.interrupted());
    }

    @Test
    void interruptThatTheInnermostOfThreeTookComesToTheOutermost() {
        LossInterrupt middle = LossInterrupt.begin(looks);
        LossInterrupt inner = LossInterrupt.begin(looks);
        outer.onLoss();
        assertTrue(Thread.interrupted());
        inner.end(new IllegalStateException(), new IllegalStateException());
        assertTrue(Thread.interrupted(), "else the middle one goes on as if nothing had happened");
        LossInterrupt next = LossInterrupt.begin(looks);
        end(next, null);
        assertFalse(Thread.interrupted(), "it was taken before that began");
        end(middle, null);
        assertTrue(Thread.interrupted());
    }

    @Test
    void interruptOfSomebodyElseThatIsNotThrownOnIsKept() {
        LossInterrupt inner = LossInterrupt.begin(looks);
        Thread.currentThread().interrupt();
        assertTrue(Thread.interrupted());
        inner.end(new InterruptedException(), new IllegalStateException("lost"));
        assertTrue(Thread.interrupted());
        outer.onLoss();
        assertTrue(Thread.interrupted());
    }

    @Test
    void workThatIsNotToBeInterruptedAnyMoreIsNot() {
        Thread.currentThread().interrupt();
        outer.onLoss();
        outer.stop();
        assertTrue(Thread.interrupted());
        looks.take();
        end(LossInterrupt.begin(looks), null);
        assertFalse(Thread.interrupted());
        assertTrue(outer.isTold());
    }

    @Test
    void oneLossOfBothComesToTheOuterOneInWhateverOrder() {
        for (int round = 0; round < ROUNDS; round++) {
            String what = "round " + round + " of seed " + seed;
            LossInterrupt middle = LossInterrupt.begin(looks);
            LossInterrupt inner = LossInterrupt.begin(looks);
            Future<?> first = threads.submit(middle::onLoss);
            Future<?> second = threads.submit(inner::onLoss);
            for (int i = random.nextInt(200); i > 0; i--) {
                Thread.onSpinWait();
            }
            end(inner, null);
            while (!first.isDone() || !second.isDone()) { // blocking would answer to the interrupt
                Thread.yield();
            }
            looks.take();
            assertTrue(Thread.interrupted(), what);
            end(middle, null);
            looks.take();
            assertFalse(Thread.interrupted(), what);
        }
    }
}
