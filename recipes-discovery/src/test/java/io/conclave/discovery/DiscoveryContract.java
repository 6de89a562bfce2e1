package io.conclave.discovery;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.membership.MembershipState;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.RecipeFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** What service discovery promises on every backend. */
public abstract class DiscoveryContract extends RecipeFixture {
    static final String BASE = "/services";
    static final String SERVICE = "orders";

    static ServiceDiscovery discoveryOf(Coordinator coordinator) {
        return ServiceDiscovery.at(coordinator, BASE);
    }

    static ServiceInstance instance(String id, int port) {
        return ServiceInstance.named(SERVICE)
                .id(id)
                .address("10.0.0.5")
                .port(port)
                .build();
    }

    private static List<String> texts(List<ServiceInstance> instances) {
        return instances.stream()
                .map(one -> one.id() + ":" + one.port().orElse(-1))
                .toList();
    }

    private static void awaitSeen(ServiceCache cache, String... expected) {
        await().atMost(PATIENCE).until(() -> texts(cache.instances()).equals(List.of(expected)));
    }

    private static void awaitStored(Coordinator coordinator, String... expected) {
        await().atMost(PATIENCE)
                .until(() -> texts(discoveryOf(coordinator).instances(SERVICE)).equals(List.of(expected)));
    }

    private static void write(Coordinator coordinator, String id, String json) throws InterruptedException {
        coordinator.execute(Create.of(NodePath.of(BASE + "/" + SERVICE + "/" + id))
                .withData(json.getBytes(UTF_8))
                .withMode(CreateMode.EPHEMERAL));
    }

    @Test
    void instanceIsSeenUntilItIsDeregistered() throws Exception {
        Coordinator other = connect();
        assertEquals(List.of(), discoveryOf(other).services());
        assertEquals(List.of(), discoveryOf(other).instances(SERVICE));
        ServiceInstance me = ServiceInstance.named(SERVICE)
                .id("a")
                .address("host-7")
                .port(1)
                .sslPort(2)
                .payload("{\"zone\": \"x\"}")
                .uriSpec(UriSpec.of("{scheme}://{address}:{ssl-port}"))
                .build();
        try (ServiceCache cache = discoveryOf(other).cache(SERVICE)) {
            ServiceRegistration registration = discoveryOf(connect()).register(me, PATIENCE);
            assertTrue(registration.isRegistered());
            awaitSeen(cache, "a:1");
            ServiceInstance seen = cache.instances().get(0);
            assertEquals(
                    me.toBuilder()
                            .registeredAt(seen.registeredAt().orElseThrow())
                            .build(),
                    seen);
            assertEquals(Optional.of("https://host-7:2"), seen.uri());
            assertEquals(List.of(SERVICE), discoveryOf(other).services());
            assertEquals(List.of(seen), discoveryOf(other).instances(SERVICE));
            registration.close();
            registration.close();
            assertEquals(LossReason.RELEASED, get(registration.ended()));
            awaitSeen(cache);
            awaitStored(other);
        }
    }

    @Test
    void updateIsSeenAndNameIdAndTimeStay() throws Exception {
        ServiceCache cache = discoveryOf(connect()).cache(SERVICE);
        ServiceRegistration registration = get(discoveryOf(connect()).registerAsync(instance("a", 1)));
        awaitSeen(cache, "a:1");
        Object time = cache.instances().get(0).registeredAt().orElseThrow();
        registration.update(instance("a", 2));
        awaitSeen(cache, "a:2");
        assertEquals(time, cache.instances().get(0).registeredAt().orElseThrow());
        assertThrows(IllegalArgumentException.class, () -> registration.update(instance("b", 2)));
        assertThrows(
                IllegalArgumentException.class,
                () -> registration.update(ServiceInstance.named("bills").id("a").build()));
        registration.close();
        assertThrows(GrantLostException.class, () -> registration.update(instance("a", 3)));
    }

    @Test
    void registrationOfATakenIdWaitsAndLeavesNothingWhenItIsCancelled() throws Exception {
        Coordinator coordinator = connect();
        ServiceRegistration first = discoveryOf(connect()).register(instance("a", 1), PATIENCE);
        CompletableFuture<ServiceRegistration> second = discoveryOf(coordinator).registerAsync(instance("a", 2));
        CompletableFuture<ServiceRegistration> third = discoveryOf(connect()).registerAsync(instance("a", 3));
        assertThrows(AcquireTimeoutException.class, () -> discoveryOf(connect())
                .register(instance("a", 4), Duration.ofMillis(100)));
        CompletableFuture<ServiceRegistration> late =
                discoveryOf(connect()).registerAsync(instance("a", 5), Duration.ofMillis(100));
        ExecutionException failure = assertThrows(ExecutionException.class, () -> get(late));
        assertTrue(failure.getCause() instanceof AcquireTimeoutException, failure::toString);
        assertFalse(third.isDone());
        assertTrue(second.cancel(true));
        first.close();
        ServiceRegistration registration = get(third);
        awaitStored(coordinator, "a:3");
        registration.close();
        awaitStored(coordinator);
        get(discoveryOf(coordinator).registerAsync(instance("a", 6), PATIENCE)).close();
    }

    @Test
    void instanceWithALostSessionIsRegisteredAgainAsItWasUpdated() throws Exception {
        ManualTimeSource clock = jumpingClock();
        Coordinator other = connect();
        Coordinator coordinator = opened(builder().timeSource(clock));
        ServiceRegistration registration = discoveryOf(coordinator).register(instance("a", 1), PATIENCE);
        List<MembershipState> states = Collections.synchronizedList(new ArrayList<>());
        registration.onStateChange(states::add);
        registration.update(instance("a", 2));
        loseSession(coordinator, clock);
        await().atMost(PATIENCE).until(() -> states.equals(List.of(MembershipState.REJOINING, MembershipState.MEMBER)));
        awaitStored(other, "a:2");
    }

    @Test
    void instanceWithADeletedZnodeIsOut() throws Exception {
        Coordinator coordinator = connect();
        ServiceRegistration registration = discoveryOf(connect()).register(instance("a", 1), PATIENCE);
        coordinator.execute(Delete.of(registration.path()));
        assertEquals(LossReason.NODE_DELETED, get(registration.ended()));
        assertFalse(registration.isRegistered());
    }

    @Test
    void cacheTellsOfEveryStateAndMissesNothingWhenItsSessionIsLost() throws Exception {
        ManualTimeSource clock = jumpingClock();
        ServiceDiscovery others = discoveryOf(connect());
        Coordinator coordinator = opened(builder().timeSource(clock));
        ServiceCache cache = discoveryOf(coordinator).cache(SERVICE);
        assertEquals(List.of(), cache.awaitLoaded(PATIENCE));
        List<List<String>> told = Collections.synchronizedList(new ArrayList<>());
        cache.onChange(instances -> told.add(texts(instances)));
        await().atMost(PATIENCE).until(() -> told.equals(List.of(List.of())));
        ServiceRegistration registration = others.register(instance("a", 1), PATIENCE);
        await().atMost(PATIENCE).until(() -> told.equals(List.of(List.of(), List.of("a:1"))));
        loseSession(coordinator, clock);
        assertEquals(List.of("a:1"), texts(cache.instances()));
        registration.update(instance("a", 2));
        awaitSeen(cache, "a:2");
        await().atMost(PATIENCE).until(cache::isCurrent);
        assertEquals(Duration.ZERO, cache.age());
        cache.close();
        assertFalse(cache.isCurrent());
        assertEquals(List.of("a:2"), texts(cache.instances()));
    }

    @Test
    void whatOthersHaveWrittenIsReadWithFieldsUnknownAndMissing() throws Exception {
        Coordinator coordinator = connect();
        ServiceRegistration mine = discoveryOf(coordinator).register(instance("m", 1), PATIENCE);
        write(coordinator, "a", "{}");
        write(coordinator, "b", "{\"id\":\"x\",\"port\":2,\"later\":[{}],\"enabled\":false}");
        write(coordinator, "c", "no JSON");
        write(coordinator, "d", "{\"port\":70000}");
        write(coordinator, "e", "");
        ServiceProvider provider = discoveryOf(coordinator).provider(SERVICE);
        awaitSeen(provider.cache(), "a:-1", "x:2", "m:1");
        ServiceInstance bare = provider.cache().instances().get(0);
        assertEquals(SERVICE, bare.name());
        assertEquals("", bare.address());
        assertEquals(OptionalInt.empty(), bare.port());
        assertEquals("DYNAMIC", bare.serviceType());
        assertEquals(List.of("a:-1", "m:1"), texts(provider.instances()));
        mine.close();
        awaitSeen(provider.cache(), "a:-1", "x:2");
        assertEquals("a", provider.instance().orElseThrow().id());
    }

    @Test
    void providersChooseByTheirStrategies() throws Exception {
        Coordinator coordinator = connect();
        ServiceDiscovery discovery = discoveryOf(coordinator);
        ServiceProvider turns = discovery.provider(SERVICE);
        assertEquals(Optional.empty(), turns.instance());
        ServiceProvider sticky = discovery.provider(SERVICE, ProviderStrategy.sticky(ProviderStrategy.roundRobin()));
        ServiceProvider random = discovery.provider(SERVICE, ProviderStrategy.random());
        ServiceRegistration a = discovery.register(instance("a", 1), PATIENCE);
        ServiceRegistration b = discovery.register(instance("b", 2), PATIENCE);
        List.of(turns, sticky, random).forEach(provider -> awaitSeen(provider.cache(), "a:1", "b:2"));
        assertEquals(List.of("a", "b", "a", "b"), List.of(chosen(turns), chosen(turns), chosen(turns), chosen(turns)));
        String first = chosen(sticky);
        assertEquals(List.of(first, first), List.of(chosen(sticky), chosen(sticky)));
        Set<String> any = new TreeSet<>();
        await().atMost(PATIENCE).until(() -> any.add(chosen(random)) | any.size() == 2);
        (first.equals("a") ? a : b).close();
        String rest = first.equals("a") ? "b" : "a";
        await().atMost(PATIENCE).until(() -> chosen(sticky).equals(rest));
        turns.close();
        sticky.close();
        random.close();
    }

    private static String chosen(ServiceProvider provider) {
        return provider.instance().orElseThrow().id();
    }

    @Test
    void instanceWithTwoErrorsIsLeftOut() throws Exception {
        ServiceDiscovery discovery = discoveryOf(connect());
        ServiceProvider provider = discovery.provider(SERVICE);
        discovery.register(instance("a", 1), PATIENCE);
        ServiceRegistration b = discovery.register(instance("b", 2), PATIENCE);
        awaitSeen(provider.cache(), "a:1", "b:2");
        ServiceInstance bad = provider.cache().instances().get(1);
        provider.noteError(bad);
        assertEquals(List.of("a:1", "b:2"), texts(provider.instances()));
        provider.noteError(bad);
        assertEquals(List.of("a:1"), texts(provider.instances()));
        b.update(instance("b", 2).toBuilder().payloadText("changed").build());
        await().atMost(PATIENCE)
                .until(() -> provider.cache().instances().get(1).payloadText().isPresent());
        assertEquals(List.of("a:1"), texts(provider.instances()), "it is the same process");
    }

    @Test
    void badInputIsNamed() throws Exception {
        ServiceDiscovery discovery = discoveryOf(connect());
        assertThrows(IllegalArgumentException.class, () -> discovery.register(instance("a/b", 1)));
        assertThrows(IllegalArgumentException.class, () -> discovery.register(instance("", 1)));
        assertThrows(IllegalArgumentException.class, () -> discovery.instances("a/b"));
        assertThrows(IllegalArgumentException.class, () -> discovery.cache(""));
        assertThrows(
                IllegalArgumentException.class, () -> discovery.register(instance("a", 1), Duration.ofSeconds(-1)));
        assertThrows(IllegalArgumentException.class, () -> instance("a", 65_536));
        assertThrows(IllegalArgumentException.class, () -> new ErrorPolicy(0, Duration.ofSeconds(1)));
        assertThrows(IllegalArgumentException.class, () -> new ErrorPolicy(1, Duration.ZERO));
        assertEquals(List.of(), discovery.services(), "nothing was made");
        assertTrue(discovery.toString().contains(BASE));
    }
}
