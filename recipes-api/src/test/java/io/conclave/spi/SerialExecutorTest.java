package io.conclave.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.time.TimeSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SerialExecutorTest {
    @Test
    void tasksOfOneThreadRunInOrderAndNeverTwoAtOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        SerialExecutor serial = new SerialExecutor("test", threads, TimeSource.system());
        int producers = 4;
        int each = 5_000;
        AtomicInteger inside = new AtomicInteger();
        List<List<Integer>> seen = new ArrayList<>();
        CountDownLatch done = new CountDownLatch(producers * each);
        for (int producer = 0; producer < producers; producer++) {
            List<Integer> own = Collections.synchronizedList(new ArrayList<>());
            seen.add(own);
            new Thread(() -> {
                        for (int i = 0; i < each; i++) {
                            int number = i;
                            serial.execute(() -> {
                                own.add(inside.incrementAndGet() == 1 ? number : -1);
                                inside.decrementAndGet();
                                done.countDown();
                            });
                        }
                    })
                    .start();
        }
        assertTrue(done.await(120, TimeUnit.SECONDS));
        for (List<Integer> own : seen) {
            List<Integer> sorted = new ArrayList<>(own);
            Collections.sort(sorted);
            assertEquals(sorted, own);
            assertEquals(each, own.size());
            assertFalse(own.contains(-1));
        }
        threads.shutdown();
    }

    @Test
    void failingTaskDoesNotStopTheNext() throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        SerialExecutor serial = new SerialExecutor("test of a failing task", threads, TimeSource.system());
        CountDownLatch done = new CountDownLatch(1);
        serial.execute(() -> {
            throw new IllegalStateException("thrown on purpose by a test");
        });
        serial.execute(() -> {
            assertTrue(serial.isCurrent());
            done.countDown();
        });
        assertTrue(done.await(120, TimeUnit.SECONDS));
        assertFalse(serial.isCurrent());
        threads.shutdown();
    }

    @Test
    void tasksRunEvenIfTheirExecutorWasShutDown() throws Exception {
        SerialExecutor serial = new SerialExecutor(
                "test of a shut down executor",
                task -> {
                    throw new RejectedExecutionException("shut down");
                },
                TimeSource.system());
        CountDownLatch done = new CountDownLatch(2);
        serial.execute(done::countDown);
        serial.execute(done::countDown);
        assertTrue(done.await(120, TimeUnit.SECONDS));
    }

    @Test
    void taskThatThrowsACheckedExceptionDoesNotStopTheNext() throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        SerialExecutor serial = new SerialExecutor("test of a sneaky task", threads, TimeSource.system());
        CountDownLatch done = new CountDownLatch(1);
        serial.execute(() -> SerialExecutorTest.<RuntimeException>sneak(new Exception("as Kotlin may throw it")));
        serial.execute(done::countDown);
        assertTrue(done.await(120, TimeUnit.SECONDS));
        threads.shutdown();
    }

    @SuppressWarnings("unchecked")
    private static <E extends Exception> void sneak(Exception e) throws E {
        throw (E) e;
    }

    @Test
    void tasksRunAlthoughAThreadCouldNotBeStarted() throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        AtomicInteger calls = new AtomicInteger();
        SerialExecutor serial = new SerialExecutor(
                "test of a machine without threads",
                task -> {
                    if (calls.getAndIncrement() == 0) {
                        throw new OutOfMemoryError("unable to create native thread, says a test");
                    }
                    threads.execute(task);
                },
                TimeSource.system());
        CountDownLatch done = new CountDownLatch(2);
        try {
            serial.execute(done::countDown);
        } catch (OutOfMemoryError e) {
            // the caller may hear of it
        }
        serial.execute(done::countDown);
        assertTrue(done.await(120, TimeUnit.SECONDS));
        threads.shutdown();
    }
}
