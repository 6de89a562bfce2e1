package io.conclave.spring.cloud;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.discovery.ServiceDiscovery;
import io.conclave.session.SessionState;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Questions that are asked, and given up, while the store does not answer cost nothing when it does. */
class ManyQuestionsTest {
    private static final int MANY = 1_000;

    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger calls = new AtomicInteger();
    private volatile boolean held; // listeners are not called any more
    private final Coordinator coordinator = Coordinator.builder("memory:" + store)
            .sessionTimeout(Duration.ofHours(1))
            .listenerExecutor(call -> {
                calls.incrementAndGet();
                if (!held) {
                    threads.execute(call);
                }
            })
            .connect();
    private final KnownServices services =
            new KnownServices(coordinator, ServiceDiscovery.at(coordinator, "/services"));

    @AfterEach
    void close() {
        services.close();
        coordinator.close();
        threads.shutdown();
        MemoryStore.forget(store);
    }

    private ConclaveDiscoveryClient impatientClient() {
        ConclaveDiscoveryProperties properties = new ConclaveDiscoveryProperties();
        properties.setLoadTimeout(Duration.ofNanos(1));
        return new ConclaveDiscoveryClient(coordinator, services, properties);
    }

    @Test
    void thoseThatAreGivenUpLeaveNothingBehind() throws Exception {
        faults.suspendAll();
        await().until(() -> coordinator.state() == SessionState.SUSPENDED);
        ConclaveDiscoveryClient client = impatientClient();
        for (int i = 0; i < MANY; i++) {
            assertThrows(IllegalStateException.class, () -> client.getInstances("orders"));
            assertThrows(IllegalStateException.class, client::getServices);
        }
        assertEquals(0, services.waiting());
        long requests = faults.requestCount();
        calls.set(0);
        faults.restoreAll();
        assertEquals(List.of(), services.instances("orders").get(60, SECONDS));
        assertEquals(List.of(), services.names().get(60, SECONDS));
        assertTrue(faults.requestCount() - requests < MANY / 2, () -> faults.requestCount() + " requests");
        assertTrue(calls.get() < MANY / 2, () -> calls + " calls");
    }

    /** Also while a listener thread is held up, which would answer a question that waits. */
    @Test
    void instancesOfALoadedCacheAreKnownAtOnce() throws Exception {
        assertEquals(List.of(), services.instances("orders").get(60, SECONDS));
        held = true;
        for (int i = 0; i < 3; i++) {
            assertTrue(services.instances("orders").isDone());
        }
        assertEquals(0, services.waiting());
    }

    @Test
    void thoseThatWaitAreAllAnswered() throws Exception {
        faults.suspendAll();
        await().until(() -> coordinator.state() == SessionState.SUSPENDED);
        List<CompletableFuture<?>> answers = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            answers.add(services.instances("orders"));
            answers.add(services.names());
        }
        long requests = faults.requestCount();
        faults.restoreAll();
        for (CompletableFuture<?> answer : answers) {
            assertEquals(List.of(), answer.get(60, SECONDS));
        }
        assertTrue(faults.requestCount() - requests < MANY / 2, () -> faults.requestCount() + " requests");
        assertEquals(0, services.waiting());
    }
}
