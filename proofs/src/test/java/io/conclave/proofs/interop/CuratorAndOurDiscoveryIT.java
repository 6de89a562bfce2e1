package io.conclave.proofs.interop;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.conclave.discovery.ServiceCache;
import io.conclave.discovery.ServiceDiscovery;
import io.conclave.discovery.ServiceInstance;
import io.conclave.discovery.ServiceProvider;
import io.conclave.discovery.ServiceRegistration;
import io.conclave.discovery.UriSpec;
import io.conclave.error.LossReason;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstanceBuilder;
import org.apache.curator.x.discovery.ServiceType;
import org.apache.curator.x.discovery.details.JsonInstanceSerializer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Instances that Curator's service discovery and ours have registered are seen by both, as they were told. */
class CuratorAndOurDiscoveryIT extends CuratorBesideOurs {
    private static final String BASE = "/services";
    private static final String SERVICE = "orders";
    private static final long TIME = 1_700_000_000_123L;

    private ServiceDiscovery ours() {
        return ServiceDiscovery.at(coordinator, BASE);
    }

    private <T> org.apache.curator.x.discovery.ServiceDiscovery<T> theirs(Class<T> payload, boolean writesEnabled)
            throws Exception {
        org.apache.curator.x.discovery.ServiceDiscovery<T> discovery = ServiceDiscoveryBuilder.builder(payload)
                .client(curator)
                .basePath(BASE)
                .serializer(new JsonInstanceSerializer<>(payload, !writesEnabled))
                .build();
        discovery.start();
        return discovery;
    }

    private static <T> ServiceInstanceBuilder<T> their(String id) throws Exception {
        return org.apache.curator.x.discovery.ServiceInstance.<T>builder()
                .name(SERVICE)
                .id(id)
                .address("10.0.0.6")
                .port(81)
                .registrationTimeUTC(TIME)
                .uriSpec(new org.apache.curator.x.discovery.UriSpec("{scheme}://{address}:{port}/{id}"));
    }

    private static void awaitSeen(ServiceCache cache, String... ids) {
        await().atMost(PATIENCE).until(() -> cache.instances().stream()
                .map(ServiceInstance::id)
                .toList()
                .equals(List.of(ids)));
    }

    @ParameterizedTest
    @EnumSource
    void theyAreSeenByOurs(ServerKind kind) throws Exception {
        open(kind);
        try (var discovery = theirs(Object.class, false);
                ServiceCache cache = ours().cache(SERVICE)) {
            var text = CuratorAndOurDiscoveryIT.<Object>their("a")
                    .payload("text")
                    .sslPort(443)
                    .build();
            var map = CuratorAndOurDiscoveryIT.<Object>their("b")
                    .payload(new java.util.TreeMap<>(Map.of("k", "v")))
                    .build();
            var permanent = CuratorAndOurDiscoveryIT.<Object>their("c")
                    .serviceType(ServiceType.PERMANENT)
                    .build();
            discovery.registerService(text);
            discovery.registerService(map);
            discovery.registerService(permanent);
            awaitSeen(cache, "a", "b", "c");
            assertEquals(
                    ServiceInstance.named(SERVICE)
                            .id("a")
                            .address("10.0.0.6")
                            .port(81)
                            .sslPort(443)
                            .payloadText("text")
                            .registeredAt(Instant.ofEpochMilli(TIME))
                            .uriSpec(UriSpec.of("{scheme}://{address}:{port}/{id}"))
                            .build(),
                    cache.instances().get(0));
            assertEquals(
                    Optional.of(text.buildUriSpec()), cache.instances().get(0).uri());
            assertEquals(
                    Optional.of("{\"@class\":\"java.util.TreeMap\",\"k\":\"v\"}"),
                    cache.instances().get(1).payload());
            assertEquals("PERMANENT", cache.instances().get(2).serviceType());
            discovery.unregisterService(text);
            discovery.unregisterService(permanent);
            awaitSeen(cache, "b");
            assertEquals(List.of(SERVICE), ours().services());
        }
        try (ServiceCache cache = ours().cache(SERVICE)) {
            cache.awaitLoaded(PATIENCE);
            awaitSeen(cache); // Curator's discovery unregisters what it has when it is closed
        }
    }

    @ParameterizedTest
    @EnumSource
    void oursAreSeenByThem(ServerKind kind) throws Exception {
        open(kind);
        try (var discovery = theirs(Object.class, false);
                var provider =
                        discovery.serviceProviderBuilder().serviceName(SERVICE).build()) {
            provider.start();
            ServiceInstance mine = ServiceInstance.named(SERVICE)
                    .id("ours")
                    .address("10.0.0.5")
                    .port(80)
                    .payload("{\"@class\":\"java.util.TreeMap\",\"k\":\"v\"}")
                    .uriSpec(UriSpec.of("{scheme}://{address}:{port}/{[}{id}{]}"))
                    .build();
            ServiceRegistration registration = ours().register(mine);
            await().atMost(PATIENCE).until(() -> provider.getAllInstances().size() == 1);
            var seen = provider.getInstance();
            assertEquals(
                    "orders ours 10.0.0.5 80 null",
                    seen.getName() + " " + seen.getId() + " " + seen.getAddress() + " " + seen.getPort() + " "
                            + seen.getSslPort());
            assertEquals(Map.of("k", "v"), seen.getPayload());
            assertEquals("http://10.0.0.5:80/{ours}", seen.buildUriSpec());
            assertEquals(
                    ours().instances(SERVICE)
                            .get(0)
                            .registeredAt()
                            .orElseThrow()
                            .toEpochMilli(),
                    seen.getRegistrationTimeUTC());
            registration.update(mine.toBuilder().payloadText("later").build());
            await().atMost(PATIENCE)
                    .until(() -> "later".equals(provider.getInstance().getPayload()));
            assertEquals(List.of(SERVICE), List.copyOf(discovery.queryForNames()));
            registration.close();
            await().atMost(PATIENCE).until(() -> provider.getAllInstances().isEmpty());
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsDisabledIsChosenByNeither(ServerKind kind) throws Exception {
        open(kind);
        try (var discovery = theirs(String.class, true);
                var theirProvider =
                        discovery.serviceProviderBuilder().serviceName(SERVICE).build();
                ServiceProvider ourProvider = ours().provider(SERVICE)) {
            theirProvider.start();
            discovery.registerService(
                    CuratorAndOurDiscoveryIT.<String>their("a").enabled(false).build());
            ours().register(ServiceInstance.named(SERVICE)
                    .id("b")
                    .enabled(false)
                    .build());
            awaitSeen(ourProvider.cache(), "a", "b");
            ours().register(ServiceInstance.named(SERVICE).id("c").build());
            awaitSeen(ourProvider.cache(), "a", "b", "c");
            assertEquals(
                    List.of("c"),
                    ourProvider.instances().stream().map(ServiceInstance::id).toList());
            await().atMost(PATIENCE)
                    .until(() -> ids(theirProvider.getAllInstances()).equals(List.of("c")));
        }
    }

    private static List<String> ids(Collection<org.apache.curator.x.discovery.ServiceInstance<String>> instances) {
        return instances.stream()
                .map(org.apache.curator.x.discovery.ServiceInstance::getId)
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void idThatOneOfTheirsHasIsWaitedForAndOneOfOursIsTakenByThem(ServerKind kind) throws Exception {
        open(kind);
        try (var discovery = theirs(String.class, false);
                ServiceCache cache = ours().cache(SERVICE)) {
            var they = CuratorAndOurDiscoveryIT.<String>their("a").build();
            discovery.registerService(they);
            CompletableFuture<ServiceRegistration> registering =
                    ours().registerAsync(ServiceInstance.named(SERVICE).id("a").build());
            awaitSeen(cache, "a");
            assertFalse(registering.isDone());
            discovery.unregisterService(they);
            ServiceRegistration registration = registering.get(20, TimeUnit.SECONDS);
            discovery.registerService(they); // deletes what is there, and creates its own
            assertEquals(LossReason.NODE_DELETED, registration.ended().get(20, TimeUnit.SECONDS));
        }
    }
}
