package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What strangers can have waiting there. */
class BackgroundThreadsTest {
    private final BackgroundThreads threads = new BackgroundThreads(false);
    private final CountDownLatch ended = new CountDownLatch(1);

    private void waitForTheEnd() {
        try {
            ended.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aClientOfTlsIsNotRefusedForThoseOfAnotherAddress() {
        assertThrows(RejectedExecutionException.class, () -> {
            for (int i = 0; i < 10_000; i++) {
                threads.clientHandshakes().of("10.0.0.1").execute(this::waitForTheEnd);
            }
        });
        threads.clientHandshakes().of("10.0.0.2").execute(this::waitForTheEnd);
    }

    @AfterEach
    void end() {
        ended.countDown();
        threads.shutdown();
    }
}
