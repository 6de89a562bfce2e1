package io.conclave.coordinator;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class GrowingThreadsTest {
    private static final int BOUND = 4;

    private final ExecutorService all = Executors.newCachedThreadPool(GrowingThreadsTest::thread);
    private final CountDownLatch hold = new CountDownLatch(1);
    private final GrowingThreads threads = new GrowingThreads(all, BOUND, TimeSource.system());

    /** What it throws as planned is nobody's failure: an {@code await()} of another test would take it for its own. */
    private static Thread thread(Runnable task) {
        Thread thread = new Thread(task);
        thread.setUncaughtExceptionHandler((failed, planned) -> {});
        return thread;
    }

    @AfterEach
    void end() {
        hold.countDown();
        all.shutdownNow();
    }

    private static void awaitOf(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class StandingClock implements TimeSource {
        @Override
        public long monotonicNanos() {
            return 0;
        }

        @Override
        public long wallMillis() {
            return 0;
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            return TimeSource.system().schedule(delay, task);
        }
    }

    @Test
    void shortTasksShareFewThreads() throws Exception {
        GrowingThreads threads = new GrowingThreads(all, BOUND, new StandingClock()); // no task takes long by it
        AtomicInteger atOnce = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(10_000);
        for (int i = 0; i < 10_000; i++) {
            threads.execute(() -> {
                most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
                atOnce.decrementAndGet();
                done.countDown();
            });
        }
        assertTrue(done.await(120, SECONDS));
        assertTrue(most.get() <= BOUND, "at once: " + most);
    }

    @Test
    void tasksThatWaitForTheLastOneAllGetAThread() throws Exception {
        CountDownLatch last = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(200);
        for (int i = 0; i < 200; i++) {
            threads.execute(() -> {
                awaitOf(last);
                done.countDown();
            });
        }
        threads.execute(last::countDown);
        assertTrue(done.await(120, SECONDS), "left: " + done.getCount());
    }

    @Test
    void permanentlyBlockedThreadsDoNotHoldUpOthers() throws Exception {
        CountDownLatch stuck = new CountDownLatch(10 * BOUND);
        for (int i = 0; i < 10 * BOUND; i++) {
            threads.execute(() -> {
                stuck.countDown();
                awaitOf(hold);
            });
        }
        assertTrue(stuck.await(120, SECONDS));
        for (int i = 0; i < 1_000; i++) {
            CountDownLatch ran = new CountDownLatch(1);
            threads.execute(ran::countDown);
            assertTrue(ran.await(120, SECONDS));
        }
        assertTrue(threads.limit() > 9 * BOUND, "limit " + threads.limit());
    }

    @Test
    void theBoundComesBackWhenNothingIsStuck() throws Exception {
        tasksThatWaitForTheLastOneAllGetAThread();
        await().until(() -> threads.limit() == BOUND);
    }

    @Test
    void aTaskThatThrowsDoesNotHoldUpOthers() throws Exception {
        CountDownLatch done = new CountDownLatch(100);
        for (int i = 0; i < 100; i++) {
            threads.execute(() -> {
                done.countDown();
                throw new IllegalStateException("planned");
            });
        }
        assertTrue(done.await(120, SECONDS), "left: " + done.getCount());
    }

    @Test
    void aTaskForWhichThereIsNoThreadIsRefusedAndNotRunLater() {
        AtomicInteger ran = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        GrowingThreads without = new GrowingThreads(
                task -> {
                    if (refused.getAndIncrement() == 0) {
                        throw new RejectedExecutionException("no thread");
                    }
                    task.run();
                },
                1,
                TimeSource.system());
        assertThrows(RejectedExecutionException.class, () -> without.execute(ran::incrementAndGet));
        without.execute(() -> {});
        assertEquals(0, ran.get());
    }
}
