package io.conclave.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

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

    /** The one that blocks is named, once, when another callback comes behind it. */
    @Test
    void callbackThatBlocksIsNamedInAWarning() throws Exception {
        while (!(LoggerFactory.getLogger(SerialExecutor.class) instanceof Logger)) {
            Thread.onSpinWait(); // another test's thread sets logging up
        }
        Logger logger = (Logger) LoggerFactory.getLogger(SerialExecutor.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.list = new CopyOnWriteArrayList<>();
        log.start();
        logger.addAppender(log);
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try {
            AtomicLong nanos = new AtomicLong(5);
            SerialExecutor serial = new SerialExecutor("listener of orders", threads, at(nanos));
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch mayGoOn = new CountDownLatch(1);
            CountDownLatch done = new CountDownLatch(3);
            serial.execute(new Runnable() {
                @Override
                public void run() {
                    begun.countDown();
                    awaitUninterruptibly(mayGoOn);
                    done.countDown();
                }

                @Override
                public String toString() {
                    return "blocking callback";
                }
            });
            assertTrue(begun.await(120, TimeUnit.SECONDS));
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
            serial.execute(done::countDown); // not long enough yet
            assertEquals(0, warnings(log).size());
            nanos.addAndGet(1);
            serial.execute(done::countDown);
            mayGoOn.countDown();
            assertTrue(done.await(120, TimeUnit.SECONDS));
            // what is logged while another test's thread sets logging up comes a little later
            Awaitility.await()
                    .dontCatchUncaughtExceptions() // another test throws some
                    .atMost(Duration.ofMinutes(2))
                    .until(() -> !warnings(log).isEmpty());
            assertEquals(1, warnings(log).size());
            String warning = warnings(log).get(0);
            assertTrue(warning.contains("listener of orders"), warning);
            assertTrue(warning.contains("blocking callback"), warning);
        } finally {
            threads.shutdownNow();
            logger.detachAppender(log);
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static List<String> warnings(ListAppender<ILoggingEvent> log) {
        return log.list.stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .filter(message -> message.startsWith("listener of orders"))
                .toList();
    }

    private static TimeSource at(AtomicLong nanos) {
        return new TimeSource() {
            @Override
            public long monotonicNanos() {
                return nanos.get();
            }

            @Override
            public long wallMillis() {
                return 0;
            }

            @Override
            public Timer schedule(Duration delay, Runnable task) {
                return () -> {};
            }
        };
    }
}
