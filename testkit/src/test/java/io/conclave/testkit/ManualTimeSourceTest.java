package io.conclave.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ManualTimeSourceTest {
    private final ManualTimeSource time = new ManualTimeSource();
    private final List<String> ran = new ArrayList<>();

    @Test
    void timeStandsStillUntilItIsMoved() {
        long nanos = time.monotonicNanos();
        long millis = time.wallMillis();
        time.advance(Duration.ofMillis(5));
        assertEquals(nanos + 5_000_000, time.monotonicNanos());
        assertEquals(millis + 5, time.wallMillis());
    }

    @Test
    void theClocksMoveApart() {
        long millis = time.wallMillis();
        time.advanceMonotonicOnly(Duration.ofMillis(5));
        assertEquals(millis, time.wallMillis());
        long nanos = time.monotonicNanos();
        time.advanceWallOnly(Duration.ofMillis(7));
        time.advanceWallOnly(Duration.ofMillis(-10));
        assertEquals(millis - 3, time.wallMillis());
        assertEquals(nanos, time.monotonicNanos());
        assertThrows(IllegalArgumentException.class, () -> time.advance(Duration.ofMillis(-1)));
    }

    @Test
    void timersRunInOrderOfTheirTimeAndThenOfScheduling() {
        note("late", 20);
        note("early", 10);
        note("late too", 20);
        note("never", 31);
        time.advance(Duration.ofMillis(30));
        assertEquals(List.of("early at 10", "late at 20", "late too at 20"), ran);
        assertEquals(1, time.pendingTimers());
    }

    @Test
    void aTimerScheduledByATimerRunsInTheSameMoveIfItIsDue() {
        time.schedule(Duration.ofMillis(10), () -> {
            note("second", 10);
            note("third", 11);
        });
        time.advance(Duration.ofMillis(20));
        assertEquals(List.of("second at 20"), ran);
        time.advance(Duration.ofMillis(1));
        assertEquals(List.of("second at 20", "third at 21"), ran);
    }

    @Test
    void aTimerWithoutDelayRunsAtTheNextMoveEvenByZero() {
        note("now", 0);
        assertEquals(List.of(), ran);
        time.advance(Duration.ZERO);
        assertEquals(List.of("now at 0"), ran);
    }

    @Test
    void aCancelledTimerDoesNotRunAndOneThatFailsDoesNotStopOthers() {
        TimeSource.Timer cancelled = time.schedule(Duration.ofMillis(1), () -> ran.add("cancelled"));
        cancelled.cancel();
        time.schedule(Duration.ofMillis(2), () -> {
            throw new IllegalStateException("planted");
        });
        note("after", 3);
        time.advance(Duration.ofMillis(3));
        assertEquals(List.of("after at 3"), ran);
    }

    @Test
    void everyTimerRunsOnceThoughManyThreadsMoveTheClock() throws InterruptedException {
        for (int round = 0; round < 50; round++) {
            ManualTimeSource shared = new ManualTimeSource();
            AtomicInteger runs = new AtomicInteger();
            for (int i = 0; i < 100; i++) {
                shared.schedule(Duration.ofMillis(i), runs::incrementAndGet);
            }
            CountDownLatch done = new CountDownLatch(4);
            for (int i = 0; i < 4; i++) {
                new Thread(() -> {
                            for (int step = 0; step < 100; step++) {
                                shared.advance(Duration.ofMillis(1));
                            }
                            done.countDown();
                        })
                        .start();
            }
            done.await();
            shared.advance(Duration.ofMillis(100));
            assertEquals(100, runs.get());
        }
    }

    private void note(String name, long delayMs) {
        time.schedule(Duration.ofMillis(delayMs), () -> ran.add(name + " at " + time.monotonicNanos() / 1_000_000));
    }

    @Test
    void timerThatAnotherThreadArmsAfterTheMoveIsReachedByAdvancingUntil() throws Exception {
        CompletableFuture<Void> ran = new CompletableFuture<>();
        CountDownLatch moved = new CountDownLatch(1);
        Thread other = new Thread(() -> {
            try {
                moved.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            time.schedule(Duration.ofSeconds(1), () -> ran.complete(null));
        });
        other.start();
        time.advance(Duration.ofSeconds(10));
        moved.countDown();
        other.join();
        assertFalse(ran.isDone(), "it lies beyond the end of time");
        time.advanceUntil(Duration.ofMillis(100), ran::isDone);
    }

    @Test
    void aSuspensionRunsTimersLateAndNotThoseThatTheyArm() {
        ManualTimeSource time = new ManualTimeSource();
        List<Long> seconds = new ArrayList<>();
        time.schedule(Duration.ofSeconds(1), new Runnable() {
            @Override
            public void run() {
                seconds.add(Duration.ofNanos(time.monotonicNanos()).toSeconds());
                time.schedule(Duration.ofSeconds(1), this);
            }
        });
        time.suspend(Duration.ofSeconds(50));
        assertEquals(List.of(50L), seconds);
        time.advance(Duration.ofSeconds(2));
        assertEquals(List.of(50L, 51L, 52L), seconds);
    }
}
