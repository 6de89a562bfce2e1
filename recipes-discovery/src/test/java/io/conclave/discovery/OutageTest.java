package io.conclave.discovery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The cache through an outage of the store, and the notes of errors, by a clock that the test moves. */
class OutageTest {
    private static final Duration TICK = Duration.ofMillis(100);

    private final ManualTimeSource clock = new ManualTimeSource();

    @RegisterExtension
    final TestStore store = new TestStore(clock);

    private Coordinator connect() {
        return store.opened(
                store.builder().sessionTimeout(Duration.ofSeconds(10)).timeSource(clock));
    }

    private void until(Callable<Boolean> condition) {
        clock.advanceUntil(TICK, condition);
    }

    private static ServiceInstance instance(String id) {
        return ServiceInstance.named("orders").id(id).address("host").port(80).build();
    }

    @Test
    void registrationWhoseFutureIsEndedByATimeoutOfItsCallersIsGivenUp() throws Exception {
        try (Coordinator coordinator = connect();
                Coordinator other = connect()) {
            ServiceDiscovery.at(other, "/services").registerAsync(instance("a")).get();
            CompletableFuture<ServiceRegistration> second =
                    ServiceDiscovery.at(coordinator, "/services").registerAsync(instance("a"));
            long session = RecipeAccess.session(coordinator).id();
            until(() -> store.faults().watchCount(session) > 0);
            second.completeExceptionally(new TimeoutException("as orTimeout does"));
            until(() -> store.faults().watchCount(session) == 0);
        }
    }

    @Test
    void cacheServesWhatWasLastKnownAndSaysHowOldItIs() throws Exception {
        try (Coordinator coordinator = connect();
                Coordinator other = connect()) {
            ServiceDiscovery discovery = ServiceDiscovery.at(coordinator, "/services");
            discovery.registerAsync(instance("a"));
            ServiceRegistration gone = ServiceDiscovery.at(other, "/services")
                    .registerAsync(instance("b"))
                    .get();
            ServiceProvider provider = discovery.provider("orders");
            ServiceCache cache = provider.cache();
            until(() -> cache.instances().size() == 2 && cache.isCurrent());
            assertEquals(Duration.ZERO, cache.age());

            store.faults().suspendAll();
            until(() -> !cache.isCurrent());
            Duration before = cache.age();
            clock.advance(Duration.ofSeconds(3));
            assertTrue(cache.age().minus(before).compareTo(Duration.ofSeconds(3)) >= 0, cache::toString);
            assertEquals(2, provider.instances().size());
            until(() -> coordinator.state() != SessionState.SUSPENDED);
            assertEquals(2, provider.instances().size(), "the session is lost, what was known is not");
            assertTrue(cache.age().compareTo(Duration.ofSeconds(8)) > 0, cache::toString);
            assertTrue(provider.instance().isPresent());

            gone.closeAsync();
            store.faults().restoreAll();
            until(() -> cache.isCurrent()
                    && cache.instances().stream()
                            .map(ServiceInstance::id)
                            .toList()
                            .equals(List.of("a")));
            assertEquals(Duration.ZERO, cache.age());
        }
    }

    @Test
    void ageOfACacheThatHasNothingYetCountsFromItsBeginning() throws Exception {
        try (Coordinator coordinator = connect()) {
            store.faults().suspendAll();
            ServiceCache cache = ServiceDiscovery.at(coordinator, "/services").cache("orders");
            clock.advance(Duration.ofSeconds(1));
            assertFalse(cache.isCurrent());
            assertTrue(cache.age().compareTo(Duration.ofSeconds(1)) >= 0);
            assertEquals(List.of(), cache.instances());
        }
    }

    @Test
    void instanceIsChosenAgainWhenItsErrorsAreOld() {
        ErrorNotes notes = new ErrorNotes(new ErrorPolicy(2, Duration.ofSeconds(30)), clock);
        ServiceInstance one = instance("a");
        notes.note(one);
        clock.advance(Duration.ofSeconds(20));
        assertFalse(notes.isDown(one));
        notes.note(one);
        assertTrue(notes.isDown(one));
        assertFalse(notes.isDown(instance("b")));
        clock.advance(Duration.ofSeconds(10));
        assertFalse(notes.isDown(one), "the first of the two is 30 seconds old");
        notes.note(one);
        assertTrue(notes.isDown(one), "two within the last 30 seconds");
        clock.advance(Duration.ofSeconds(30));
        assertFalse(notes.isDown(one));
        notes.note(instance("b"));
        notes.note(one);
        assertFalse(notes.isDown(one));
    }
}
