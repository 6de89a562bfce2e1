package io.conclave.ensemble;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.client.WireBackend;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.session.SessionState;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendSession;
import io.conclave.spi.ConnectString;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.proxy.FaultProxy;
import io.conclave.testkit.proxy.FaultProxy.Direction;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A client gives its session up by its own clock and opens the next one over another connection, while the servers keep
 * the first and a request of it is under way: in the connection, or at a server that stands still.
 */
@Timeout(600)
class LostSessionTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    /** Long for the servers, whose clocks are the machine's; the client's stands but for what the test moves it by. */
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private static ConclaveEnsemble ensemble;
    private final ManualTimeSource clientsTime = new ManualTimeSource();

    @BeforeAll
    static void start() {
        ensemble = ConclaveEnsemble.builder()
                .electionTimeoutMs(500)
                .syncLimitTicks(600) // a busy machine may take seconds to elect a leader
                .start();
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    private Backend backend(FaultProxy... servers) {
        StringBuilder text = new StringBuilder();
        for (FaultProxy server : servers) {
            text.append(text.isEmpty() ? "conclave://" : ",")
                    .append("127.0.0.1:")
                    .append(server.port());
        }
        return WireBackend.open(
                ConnectString.parse(text.toString()),
                new BackendOptions(
                        TIMEOUT,
                        clientsTime,
                        ForkJoinPool.commonPool(),
                        List.of(),
                        Acl.OPEN,
                        100,
                        MetricsHook.NONE,
                        false,
                        Optional.empty()));
    }

    private static void awaitState(BackendSession session, SessionState state) {
        await().atMost(PATIENCE).until(() -> session.state() == state);
    }

    private BackendSession connected(Backend backend) {
        BackendSession session = backend.openSession(state -> {});
        clientsTime.advanceUntil(Duration.ofMillis(10), () -> session.state() == SessionState.CONNECTED);
        return session;
    }

    private static boolean isThere(BackendSession session, NodePath path) throws Exception {
        return session.submit(Exists.of(path).linearizable())
                .toCompletableFuture()
                .get(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                .isPresent();
    }

    /** Where a request of the lost session is held. */
    private enum Place {
        CONNECTION,
        FOLLOWER,
        LEADER
    }

    @ParameterizedTest
    @EnumSource(Place.class)
    void nothingOfItTakesEffectOnceTheNextOneIsConnected(Place place) throws Exception {
        NodePath late = NodePath.of("/late-" + place);
        int leader = ensemble.awaitLeader();
        int follower = ensemble.follower();
        int held = place == Place.LEADER ? leader : follower;
        int other = place == Place.FOLLOWER ? leader : follower;
        boolean isPaused = place != Place.CONNECTION;
        try (FaultProxy first = proxyTo(held);
                FaultProxy second = proxyTo(other);
                Backend backend = backend(first, second)) {
            second.refuse();
            BackendSession lost = connected(backend);
            if (isPaused) {
                ensemble.pause(held);
            } else {
                first.stall(Direction.TO_TARGET);
            }
            lost.submit(Create.of(late));
            first.refuse();
            second.accept();
            clientsTime.suspend(TIMEOUT);
            awaitState(lost, SessionState.LOST);

            BackendSession next = connected(backend);
            assertFalse(isThere(next, late));
            assertTrue(ensemble.server(other).state().session(lost.id()).isEmpty());
            if (isPaused) {
                ensemble.resume(held);
            } else {
                first.flow(Direction.TO_TARGET);
            }
            await().atMost(PATIENCE).until(() -> first.openConnections() == 0);
            ensemble.awaitServing(held);
            assertFalse(isThere(next, late));
            assertTrue(next.state().isLive());
        }
    }

    private static FaultProxy proxyTo(int id) {
        return FaultProxy.to("127.0.0.1", ensemble.server(id).clientPort().orElseThrow());
    }
}
