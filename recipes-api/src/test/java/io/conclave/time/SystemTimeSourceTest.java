package io.conclave.time;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SystemTimeSourceTest {
    private final SystemTimeSource time = new SystemTimeSource(Duration.ofMillis(1));

    /** The thread on which a timer runs; it holds the class loader that it had then. */
    private record Ran(Thread thread, ClassLoader loader) {}

    private Ran timer(Duration delay) throws Exception {
        CompletableFuture<Ran> ran = new CompletableFuture<>();
        time.schedule(delay, () -> {
            Thread thread = Thread.currentThread();
            ran.complete(new Ran(thread, thread.getContextClassLoader()));
        });
        return ran.get(120, TimeUnit.SECONDS);
    }

    @Test
    void threadKeepsNothingOfTheApplicationThatNeedsItFirst() throws Exception {
        Thread caller = Thread.currentThread();
        ClassLoader before = caller.getContextClassLoader();
        try (URLClassLoader application = new URLClassLoader(new URL[0], before)) {
            caller.setContextClassLoader(application);
            assertSame(
                    SystemTimeSource.class.getClassLoader(),
                    timer(Duration.ZERO).loader());
        } finally {
            caller.setContextClassLoader(before);
        }
    }

    @Test
    void threadEndsWithoutTimersAndThereIsAnotherForTheNext() throws Exception {
        Thread first = timer(Duration.ZERO).thread();
        await().atMost(Duration.ofMinutes(2)).until(() -> !first.isAlive());
        // the thread waits for this one, however long that is
        assertNotEquals(first, timer(Duration.ofMillis(50)).thread());
    }
}
