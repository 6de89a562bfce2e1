package io.conclave.proofs.faults;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.barriers.Barrier;
import io.conclave.barriers.DoubleBarrier;
import io.conclave.barriers.Latch;
import io.conclave.config.Configuration;
import io.conclave.config.NodeCache;
import io.conclave.config.SharedCounter;
import io.conclave.config.SharedValue;
import io.conclave.config.UniqueIds;
import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.discovery.ServiceDiscovery;
import io.conclave.discovery.ServiceInstance;
import io.conclave.election.LeaderElection;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.NotConnectedException;
import io.conclave.error.WaitTimeoutException;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.DistributedSemaphore;
import io.conclave.locks.LockGrant;
import io.conclave.membership.Group;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.queues.DistributedQueue;
import io.conclave.request.Exists;
import io.conclave.server.ConclaveServer;
import io.conclave.server.ServerConfig;
import io.conclave.session.SessionState;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.proxy.FreePort;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A coordinator that is started before its servers: every recipe can be used at once, and works from the first
 * connection on.
 */
class StartWithoutServersTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofMillis(50);

    private final String name = UUID.randomUUID().toString();
    private final int port = FreePort.find();
    private Coordinator coordinator;
    private ConclaveServer server;

    /** Where a coordinator is started that nothing answers yet. */
    enum Servers {
        IN_MEMORY,
        OVER_TCP
    }

    @AfterEach
    void close() {
        MemoryStore.named(name).faults().restoreAll();
        coordinator.close();
        if (server != null) {
            server.close();
        }
        MemoryStore.forget(name);
    }

    private void startCoordinator(Servers servers) {
        CoordinatorBuilder builder;
        if (servers == Servers.IN_MEMORY) {
            MemoryStore.named(name).faults().suspendAll();
            builder = Coordinator.builder("memory:" + name).namespace("/production/app");
        } else {
            builder = Coordinator.builder("conclave://127.0.0.1:" + port + "/production/app");
        }
        coordinator = builder.sessionTimeout(Duration.ofSeconds(40)).start();
        assertEquals(SessionState.CONNECTING, coordinator.state());
    }

    private void startServers(Servers servers) {
        if (servers == Servers.IN_MEMORY) {
            MemoryStore.named(name).faults().restoreAll();
        } else {
            ServerConfig config = ServerConfig.builder()
                    .clientPort(port)
                    .clientPortAddress("127.0.0.1")
                    .build();
            server = ConclaveServer.start(config, TimeSource.system(), cause -> {});
        }
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    /** Everything that is asked for before there is a server, by what it is. */
    private Map<String, CompletableFuture<?>> useEverything() {
        Map<String, CompletableFuture<?>> asked = new LinkedHashMap<>();
        asked.put("request", coordinator.submit(Exists.of(NodePath.of("/nothing"))));
        asked.put("lock", DistributedLock.at(coordinator, "/lock").acquireAsync());
        asked.put("timed lock", DistributedLock.at(coordinator, "/timed").acquireAsync(PATIENCE));
        asked.put("lock holder", DistributedLock.at(coordinator, "/held-by").holderAsync());
        asked.put(
                "semaphore", DistributedSemaphore.at(coordinator, "/permits", 2).acquireAsync(2));
        asked.put("campaign", LeaderElection.at(coordinator, "/campaign").campaignAsync());
        CompletableFuture<Boolean> led = new CompletableFuture<>();
        LeaderElection.at(coordinator, "/work").runWhileLeader(leadership -> {
            led.complete(true);
            get(leadership.lost());
        });
        asked.put("work of a leader", led);
        asked.put("membership", Group.at(coordinator, "/group", DataCodec.TEXT).joinAsync("me", "here"));
        asked.put(
                "group view",
                Group.at(coordinator, "/group", DataCodec.TEXT).view().firstSnapshot());
        ServiceDiscovery services = ServiceDiscovery.at(coordinator, "/services");
        asked.put(
                "registration",
                services.registerAsync(
                        ServiceInstance.named("a").address("host").build()));
        asked.put("services", services.cache("a").loaded());
        asked.put("cache", NodeCache.at(coordinator, "/cached").loaded());
        asked.put(
                "configuration",
                Configuration.at(coordinator, "/settings").view().firstSnapshot());
        SharedValue<String> value = SharedValue.at(coordinator, "/value", DataCodec.TEXT);
        CompletableFuture<String> observed = new CompletableFuture<>();
        value.observe(seen -> seen.ifPresent(now -> observed.complete(now.value())));
        asked.put("value", value.setAsync("set"));
        asked.put("observer", observed);
        asked.put("counter", SharedCounter.at(coordinator, "/counter").incrementAsync());
        asked.put("id", UniqueIds.at(coordinator, "/ids").nextAsync());
        DistributedQueue<String> queue = DistributedQueue.at(coordinator, "/queue", DataCodec.TEXT);
        asked.put("take", queue.takeAsync());
        asked.put("put", queue.putAsync("item"));
        asked.put("barrier", Barrier.at(coordinator, "/barrier").awaitAsync());
        asked.put("double barrier", DoubleBarrier.at(coordinator, "/enter", 1).enterAsync());
        asked.put("latch", Latch.at(coordinator, "/latch", 1).awaitAsync());
        asked.put("count down", Latch.at(coordinator, "/latch", 1).countDownAsync());
        return asked;
    }

    @ParameterizedTest
    @EnumSource
    void requestsBeforeTheServersStartAreDoneWhenTheyStart(Servers servers) throws Exception {
        startCoordinator(servers);
        BlockingQueue<SessionState> states = new LinkedBlockingQueue<>();
        coordinator.onStateChange(states::add);
        Map<String, CompletableFuture<?>> asked = useEverything();
        asked.forEach((what, future) -> assertFalse(future.isDone(), what));
        startServers(servers);
        for (Map.Entry<String, CompletableFuture<?>> one : asked.entrySet()) {
            try {
                get(one.getValue());
            } catch (Exception e) {
                throw new AssertionError(one.getKey() + " after " + states, e);
            }
        }
        await().atMost(PATIENCE).until(() -> List.copyOf(states).equals(List.of(SessionState.CONNECTED)));
    }

    @ParameterizedTest
    @EnumSource
    void closingBeforeTheServersComeEndsEverythingThatWaits(Servers servers) throws Exception {
        startCoordinator(servers);
        Map<String, CompletableFuture<?>> asked = useEverything();
        asked.remove("work of a leader"); // it is never called
        asked.remove("observer");
        CompletableFuture<Throwable> blocked = new CompletableFuture<>();
        Thread holder = new Thread(() -> blocked.complete(
                failureOf(() -> DistributedLock.at(coordinator, "/blocked").whileHeld(PATIENCE, grant -> {}))));
        holder.start();
        coordinator.close();
        for (Map.Entry<String, CompletableFuture<?>> one : asked.entrySet()) {
            ExecutionException failure =
                    assertThrows(ExecutionException.class, () -> get(one.getValue()), one.getKey());
            assertInstanceOf(ClosedException.class, failure.getCause(), one.getKey());
        }
        assertInstanceOf(ClosedException.class, get(blocked));
    }

    private interface Blocking {
        void run() throws Exception;
    }

    private static Throwable failureOf(Blocking call) {
        try {
            call.run();
            return new AssertionError("it ended well");
        } catch (Exception e) {
            return e;
        }
    }

    @ParameterizedTest
    @EnumSource
    void timeoutsSayThatThereIsNoConnectionAndLeaveNothingBehind(Servers servers) throws Exception {
        startCoordinator(servers);
        DistributedLock lock = DistributedLock.at(coordinator, "/lock");
        AcquireTimeoutException late = assertThrows(AcquireTimeoutException.class, () -> lock.acquire(SHORT));
        assertTrue(late.getMessage().contains("no connection to the store"), late::getMessage);
        NotConnectedException untold = assertThrows(NotConnectedException.class, lock::tryAcquire);
        assertTrue(untold.getMessage().contains("CONNECTING"), untold::getMessage);
        assertThrows(AcquireTimeoutException.class, () -> LeaderElection.at(coordinator, "/election")
                .campaign(SHORT));
        assertThrows(AcquireTimeoutException.class, () -> Group.at(coordinator, "/group", DataCodec.TEXT)
                .join("me", "here", SHORT));
        assertThrows(WaitTimeoutException.class, () -> Barrier.at(coordinator, "/barrier")
                .await(SHORT));
        assertTrue(DistributedQueue.at(coordinator, "/queue", DataCodec.TEXT)
                .take(SHORT)
                .isEmpty());
        assertThrows(WaitTimeoutException.class, () -> NodeCache.at(coordinator, "/cached")
                .awaitLoaded(SHORT));
        startServers(servers);
        try (LockGrant grant = lock.acquire()) {
            assertTrue(grant.isHeld(), "what gave up before does not stand in the way");
        }
        assertTrue(
                Group.at(coordinator, "/group", DataCodec.TEXT).members().isEmpty(),
                "the member that gave up has not joined");
        await().atMost(PATIENCE)
                .until(() ->
                        LeaderElection.at(coordinator, "/election").candidates().isEmpty());
    }
}
