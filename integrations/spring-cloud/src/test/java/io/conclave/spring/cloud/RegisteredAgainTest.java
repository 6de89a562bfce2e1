package io.conclave.spring.cloud;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.discovery.ServiceDiscovery;
import io.conclave.discovery.ServiceInstance;
import io.conclave.error.RefusalReason;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A registration that is refused or ended by others is made again, for as long as it is wanted. */
class RegisteredAgainTest {
    private static final Duration STEP = Duration.ofMillis(100);

    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator coordinator = Coordinator.builder("memory:" + store)
            .sessionTimeout(Duration.ofHours(1))
            .timeSource(clock)
            .start();
    private final ConclaveServiceRegistry registry =
            new ConclaveServiceRegistry(ServiceDiscovery.at(coordinator, "/services"), clock);
    private final ConclaveRegistration registration = registration("a");
    private final AtomicInteger refused = new AtomicInteger();

    @AfterEach
    void close() {
        registry.close();
        coordinator.close();
        MemoryStore.forget(store);
    }

    private static ConclaveRegistration registration(String id) {
        return registration(id, "h1");
    }

    private static ConclaveRegistration registration(String id, String address) {
        ServiceInstance instance =
                ServiceInstance.named("orders").id(id).address(address).port(80).build();
        return new ConclaveRegistration("application", instance, Map.of());
    }

    private List<String> registered() {
        return MemoryStore.named(store).snapshot().keySet().stream()
                .filter(path -> path.toString().startsWith("/services/orders/"))
                .map(NodePath::name)
                .toList();
    }

    private void refuse() {
        faults.refuse(
                request -> {
                    boolean isRefused = request instanceof Create;
                    refused.addAndGet(isRefused ? 1 : 0);
                    return isRefused;
                },
                RefusalReason.AUTH_FAILED);
    }

    private void advanceUntilRegistered() {
        clock.advanceUntil(STEP, () -> registered().equals(List.of("a")));
    }

    @Test
    void refusedRegistrationIsTriedAgainAndTellsTheLatestStatus() throws InterruptedException {
        refuse();
        registry.register(registration);
        clock.advanceUntil(STEP, () -> refused.get() > 1);
        registry.setStatus(registration, "OUT_OF_SERVICE");
        faults.clear();
        advanceUntilRegistered();
        String payload = seen().payload().orElseThrow();
        assertTrue(payload.contains("OUT_OF_SERVICE"), payload);
    }

    private ServiceInstance seen() throws InterruptedException {
        try (Coordinator other = Coordinator.connect("memory:" + store)) {
            return ServiceDiscovery.at(other, "/services").instances("orders").get(0);
        }
    }

    @Test
    void whatWasToldLastComesBackAfterADeletion() throws InterruptedException {
        registry.register(registration);
        advanceUntilRegistered();
        registry.register(registration("a", "h2"));
        await().until(() -> seen().address().equals("h2"));
        assertTrue(faults.deleteAsOperator(NodePath.of("/services/orders/a")));
        advanceUntilRegistered();
        assertEquals("h2", seen().address());
    }

    @Test
    void whatWasToldLastIsRegisteredAfterARefusal() throws InterruptedException {
        refuse();
        registry.register(registration);
        await().until(() -> refused.get() > 0);
        registry.register(registration("a", "h2"));
        registry.register(registration("a", "h3"));
        faults.clear();
        advanceUntilRegistered();
        await().until(() -> seen().address().equals("h3"));
    }

    @Test
    void pausesBetweenRefusalsGrowToAMinute() {
        ManualTimeSource pauses = new ManualTimeSource();
        ConclaveServiceRegistry refusedOne =
                new ConclaveServiceRegistry(ServiceDiscovery.at(coordinator, "/services"), pauses);
        refuse();
        refusedOne.register(registration);
        for (int seconds : new int[] {1, 2, 4, 8, 16, 32, 60, 60}) {
            await().until(() -> pauses.pendingTimers() == 1);
            assertEquals(Duration.ofSeconds(seconds), pauses.untilNextTimer().orElseThrow());
            pauses.advance(Duration.ofSeconds(seconds));
        }
        faults.clear();
        pauses.advanceUntil(Duration.ofMinutes(1), () -> registered().equals(List.of("a")));
        assertTrue(faults.deleteAsOperator(NodePath.of("/services/orders/a")));
        await().until(() -> pauses.pendingTimers() == 1);
        assertEquals(Duration.ofSeconds(1), pauses.untilNextTimer().orElseThrow());
        refusedOne.close();
    }

    @Test
    void deletedRegistrationComesBack() {
        registry.register(registration);
        advanceUntilRegistered();
        assertTrue(faults.deleteAsOperator(NodePath.of("/services/orders/a")));
        advanceUntilRegistered();
    }

    @Test
    void registrationThatIsRefusedAfterALostSessionComesBack() {
        registry.register(registration);
        advanceUntilRegistered();
        refuse();
        faults.expire(RecipeAccess.session(coordinator).id());
        clock.advanceUntil(STEP, () -> refused.get() > 0);
        faults.clear();
        advanceUntilRegistered();
    }

    @Test
    void whatIsNotWantedAnyMoreIsNotTriedAgain() {
        refuse();
        registry.register(registration);
        await().until(() -> refused.get() > 0);
        registry.deregister(registration);
        faults.clear();
        clock.advance(Duration.ofMinutes(1));
        registry.register(registration("b"));
        clock.advanceUntil(STEP, () -> !registered().isEmpty());
        assertEquals(List.of("b"), registered());
    }
}
