package io.conclave.micrometer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.metrics.Ongoing;
import io.conclave.micrometer.ConclaveObservationDocumentation.HighCardinalityKeys;
import io.conclave.micrometer.ConclaveObservationDocumentation.LowCardinalityKeys;
import io.conclave.testkit.memory.MemoryStore;
import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ConclaveObservationsTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final String PATH = "/locks/orders";

    private final String store = UUID.randomUUID().toString();
    private final TestObservationRegistry registry = TestObservationRegistry.create();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final Coordinator holder = Coordinator.connect("memory:" + store);
    private final Coordinator coordinator = Coordinator.builder("memory:" + store)
            .metrics(new ConclaveObservations(registry, PathNames.of(path -> "orders")))
            .connect();
    private final DistributedLock lock = DistributedLock.at(coordinator, PATH);

    ConclaveObservationsTest() {
        registry.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
    }

    @AfterEach
    void close() {
        coordinator.close();
        holder.close();
        MemoryStore.forget(store);
        TestObservationRegistryAssert.assertThat(registry).doesNotHaveAnyRemainingCurrentObservation();
    }

    private LockGrant heldByAnother() throws InterruptedException {
        return DistributedLock.at(holder, PATH)
                .withData("batch job 7".getBytes(StandardCharsets.UTF_8))
                .acquire(PATIENCE);
    }

    @Test
    void spanOfAWaitSaysWhoIsWaitedFor() throws Exception {
        LockGrant other = heldByAnother();
        CompletableFuture<LockGrant> waiting = lock.acquireAsync();
        await().until(() -> meters.find("conclave.wait.conclave.obstacle").counter() != null);
        other.close();
        waiting.join().close();
        TestObservationRegistryAssert.assertThat(registry)
                .hasObservationWithNameEqualTo("conclave.wait")
                .that()
                .hasBeenStarted()
                .hasBeenStopped()
                .hasContextualNameEqualTo("lock wait")
                .hasLowCardinalityKeyValue(LowCardinalityKeys.RECIPE.asString(), "lock")
                .hasLowCardinalityKeyValue(LowCardinalityKeys.NAME.asString(), "orders")
                .hasLowCardinalityKeyValue(LowCardinalityKeys.OUTCOME.asString(), "granted")
                .hasHighCardinalityKeyValue(HighCardinalityKeys.PATH.asString(), PATH)
                .hasHighCardinalityKeyValue(HighCardinalityKeys.HOLDER.asString(), "batch job 7")
                .hasHighCardinalityKeyValueWithKey(HighCardinalityKeys.OBSTACLE.asString())
                .doesNotHaveError();
    }

    @Test
    void spansOfTheWaitAndTheHoldBelongToTheCaller() throws Exception {
        Observation caller = Observation.start("request", registry);
        LockGrant grant;
        try (Observation.Scope scope = caller.openScope()) {
            assertSame(caller, registry.getCurrentObservation());
            grant = lock.acquire(PATIENCE);
            assertSame(caller, registry.getCurrentObservation(), "no scope of ours is left open");
        }
        grant.close();
        caller.stop();
        assertNull(registry.getCurrentObservation());
        for (String name : List.of("conclave.wait", "conclave.hold")) {
            TestObservationRegistryAssert.assertThat(registry)
                    .hasObservationWithNameEqualTo(name)
                    .that()
                    .hasBeenStopped()
                    .hasParentObservationEqualTo(caller);
        }
        TestObservationRegistryAssert.assertThat(registry)
                .hasObservationWithNameEqualTo("conclave.hold")
                .that()
                .hasContextualNameEqualTo("lock hold")
                .hasLowCardinalityKeyValue(LowCardinalityKeys.OUTCOME.asString(), "released")
                .hasHighCardinalityKeyValue(
                        HighCardinalityKeys.TOKEN.asString(), grant.token().toString())
                .hasHighCardinalityKeyValue(
                        HighCardinalityKeys.ZNODE.asString(), grant.path().toString());
    }

    @Test
    void lostHoldIsAnError() throws Exception {
        LockGrant grant = lock.acquire(PATIENCE);
        MemoryStore.named(store)
                .faults()
                .expire(RecipeAccess.session(coordinator).id());
        grant.lost().join();
        TestObservationRegistryAssert.assertThat(registry)
                .hasObservationWithNameEqualTo("conclave.hold")
                .that()
                .hasBeenStopped()
                .hasLowCardinalityKeyValue(LowCardinalityKeys.OUTCOME.asString(), "lost")
                .hasHighCardinalityKeyValue(HighCardinalityKeys.REASON.asString(), "SESSION_LOST")
                .hasError()
                .satisfies(context -> assertInstanceOf(GrantLostException.class, context.getError()));
    }

    @Test
    void waitThatTimesOutIsNoError() throws Exception {
        try (LockGrant other = heldByAnother()) {
            assertTrue(other.isHeld());
            assertThrows(AcquireTimeoutException.class, () -> lock.acquire(Duration.ofMillis(20)));
        }
        TestObservationRegistryAssert.assertThat(registry)
                .hasObservationWithNameEqualTo("conclave.wait")
                .that()
                .hasBeenStopped()
                .hasLowCardinalityKeyValue(LowCardinalityKeys.OUTCOME.asString(), "timed_out")
                .doesNotHaveError();
        TestObservationRegistryAssert.assertThat(registry).hasNumberOfObservationsWithNameEqualTo("conclave.hold", 0);
    }

    @Test
    void noopRegistryCostsNothing() {
        ConclaveObservations unused = new ConclaveObservations(ObservationRegistry.NOOP);
        assertSame(Ongoing.NONE, unused.begin("lock.wait", PATH));
    }

    @Test
    void conventionOfTheApplicationIsUsed() throws Exception {
        ConclaveObservationConvention own = new DefaultConclaveObservationConvention() {
            @Override
            public String getContextualName(ConclaveObservationContext context) {
                return context.path();
            }
        };
        try (Coordinator another = Coordinator.builder("memory:" + store)
                .metrics(new ConclaveObservations(registry, PathNames.allAlike(), own))
                .connect()) {
            DistributedLock.at(another, PATH).acquire(PATIENCE).close();
        }
        TestObservationRegistryAssert.assertThat(registry)
                .hasObservationWithNameEqualTo("conclave.hold")
                .that()
                .hasContextualNameEqualTo(PATH);
    }

    /** What Micrometer's documentation generator demands, and its naming rules. */
    @Test
    void namesAndKeysFollowTheRules() throws Exception {
        lock.acquire(PATIENCE).close();
        for (ConclaveObservationDocumentation kind : ConclaveObservationDocumentation.values()) {
            assertEquals(DefaultConclaveObservationConvention.class, kind.getDefaultConvention());
            assertTrue(kind.getName().matches("[a-z]+(\\.[a-z]+)+"), kind.getName());
            List<String> keys = Stream.of(kind.getLowCardinalityKeyNames(), kind.getHighCardinalityKeyNames())
                    .flatMap(Arrays::stream)
                    .map(KeyName::asString)
                    .toList();
            assertEquals(keys.size(), keys.stream().distinct().count());
            keys.forEach(
                    key -> assertTrue(key.matches("conclave(\\.[a-z]+)+") && key.startsWith(kind.getPrefix()), key));
            Arrays.stream(kind.getEvents())
                    .forEach(event -> assertTrue(event.getName().startsWith(kind.getPrefix()), event.getName()));
            TestObservationRegistryAssert.assertThat(registry)
                    .hasObservationWithNameEqualTo(kind.getName())
                    .that()
                    .satisfies(context -> {
                        context.getLowCardinalityKeyValues()
                                .forEach(value -> assertTrue(keys.contains(value.getKey()), value.getKey()));
                        context.getHighCardinalityKeyValues()
                                .forEach(value -> assertTrue(keys.contains(value.getKey()), value.getKey()));
                        assertEquals(
                                kind.getLowCardinalityKeyNames().length,
                                context.getLowCardinalityKeyValues().stream().count());
                        assertFalse(context.getLowCardinalityKeyValues().stream()
                                .anyMatch(value -> value.getValue().contains("/")));
                    });
        }
    }
}
