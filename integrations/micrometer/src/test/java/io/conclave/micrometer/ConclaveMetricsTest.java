package io.conclave.micrometer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.metrics.Ongoing;
import io.conclave.metrics.Outcome;
import io.conclave.testkit.memory.MemoryStore;
import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ConclaveMetricsTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @Test
    void locksAreCountedAndTimed() throws Exception {
        String store = UUID.randomUUID().toString();
        ConclaveMetrics metrics = new ConclaveMetrics(PathNames.of(path -> path.substring(1, path.lastIndexOf('/'))));
        metrics.bindTo(registry);
        try (Coordinator coordinator =
                Coordinator.builder("memory:" + store).metrics(metrics).connect()) {
            new CoordinatorMetrics(coordinator).bindTo(registry);
            assertEquals(1, state("connected"));
            assertEquals(0, state("lost"));
            DistributedLock lock = DistributedLock.at(coordinator, "/orders/4711");
            LockGrant grant = lock.acquire(PATIENCE);
            assertEquals(1, active("conclave.lock.held.active"));
            assertEquals(0, active("conclave.lock.wait.active"));
            CompletableFuture<LockGrant> waiting = lock.acquireAsync();
            await().until(() -> active("conclave.lock.wait.active") == 1);
            grant.close();
            waiting.join().close();
        }
        assertEquals(1, state("closed"));
        assertEquals(0, active("conclave.lock.held.active"));
        assertEquals(0, active("conclave.lock.wait.active"));
        assertEquals(
                2,
                registry.get("conclave.lock.wait").tag("name", "orders").timer().count());
        assertEquals(
                2,
                registry.get("conclave.lock.held").tag("name", "orders").timer().count());
        assertEquals(2, counted("conclave.lock.released"));
        MemoryStore.forget(store);
    }

    private double state(String state) {
        return registry.get("conclave.session.state")
                .tag("state", state)
                .gauge()
                .value();
    }

    private int active(String name) {
        LongTaskTimer timer = registry.find(name).longTaskTimer();
        return timer == null ? 0 : timer.activeTasks();
    }

    private double counted(String name) {
        return registry.get(name).functionCounter().count();
    }

    @Test
    void noPathIsATag() {
        ConclaveMetrics metrics = new ConclaveMetrics();
        metrics.bindTo(registry);
        for (int customer = 0; customer < 10; customer++) {
            metrics.count("lock.released", "/customers/" + customer);
            metrics.duration("lock.wait", "/customers/" + customer, Duration.ofMillis(1));
            metrics.begin("lock.wait", "/customers/" + customer);
            metrics.count("connection.failed", "10.0.0." + customer + ":2181");
        }
        assertEquals(4, registry.getMeters().size(), registry.getMetersAsString());
        for (Meter meter : registry.getMeters()) {
            boolean isOfConnection = meter.getId().getName().startsWith("conclave.connection");
            assertEquals(
                    isOfConnection ? Tags.empty() : Tags.of("name", "other"),
                    Tags.of(meter.getId().getTags()));
        }
        assertEquals(10, counted("conclave.lock.released"));
    }

    @Test
    void namesHaveABound() {
        ConclaveMetrics metrics = new ConclaveMetrics(PathNames.of(path -> path).atMost(3));
        metrics.bindTo(registry);
        for (int customer = 0; customer < 10; customer++) {
            metrics.count("lock.released", "/customers/" + customer);
        }
        assertEquals(4, registry.getMeters().size());
        assertEquals(
                7,
                registry.get("conclave.lock.released")
                        .tag("name", "other")
                        .functionCounter()
                        .count());
        assertThrows(IllegalArgumentException.class, () -> PathNames.allAlike().atMost(-1));
    }

    @Test
    void nameThatFailsIsOther() {
        PathNames names = PathNames.of(path -> path.substring(10));
        assertEquals("other", names.of("/short"));
        assertEquals("other", PathNames.of(path -> " ").of("/short"));
    }

    @Test
    void whatWasToldBeforeTheBindingIsSeen() {
        ConclaveMetrics metrics = new ConclaveMetrics(PathNames.allAlike(), Tags.of("coordinator", "billing"));
        metrics.count("session.lost", "memory:");
        Ongoing leading = metrics.begin("election.held", "/leader");
        metrics.begin("lock.held", "/lock").end(Outcome.RELEASED);
        metrics.bindTo(registry);
        metrics.bindTo(registry);
        metrics.count("session.lost", "memory:");
        assertEquals(
                2,
                registry.get("conclave.session.lost")
                        .tag("coordinator", "billing")
                        .functionCounter()
                        .count());
        assertEquals(1, active("conclave.election.held.active"));
        assertTrue(registry.find("conclave.lock.held.active").meters().isEmpty());
        leading.end(Outcome.LOST);
        assertEquals(0, active("conclave.election.held.active"));
        SimpleMeterRegistry second = new SimpleMeterRegistry();
        metrics.bindTo(second);
        assertEquals(2, second.get("conclave.session.lost").functionCounter().count());
    }
}
