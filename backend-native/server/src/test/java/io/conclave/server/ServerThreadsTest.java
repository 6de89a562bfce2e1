package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ServerThreadsTest {
    private final CountDownLatch over = new CountDownLatch(1);

    @Test
    void allThreadsCanBeHeldUpAtTheSameTimeAndGoOn() throws InterruptedException {
        try (ConclaveServer server =
                TestServer.start(TestServer.config().eventLoops(2).build())) {
            Set<Thread> held = ConcurrentHashMap.newKeySet();
            CountDownLatch standing = new CountDownLatch(server.threads().size());
            for (Executor thread : server.threads()) {
                thread.execute(() -> {
                    held.add(Thread.currentThread());
                    standing.countDown();
                    awaitEnd();
                });
            }
            assertTrue(standing.await(120, TimeUnit.SECONDS));
            over.countDown();
            assertEquals(
                    2 + 1 + 2 + 1, held.size(), "event loops, the log's, those in the background, that of segments");
        }
    }

    private void awaitEnd() {
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
