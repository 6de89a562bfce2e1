package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A client gives its session up by its own clock, while the server keeps it and a request is under way. */
class LostSessionTest {
    private static final NodePath LATE = NodePath.of("/late");
    /** Long for the server, whose clock is the machine's; the client's stands but for what the test moves it by. */
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final ManualTimeSource clientsTime = new ManualTimeSource();

    private BackendOptions options() {
        return new BackendOptions(
                TIMEOUT,
                clientsTime,
                ForkJoinPool.commonPool(),
                List.of(),
                Acl.OPEN,
                100,
                MetricsHook.NONE,
                true,
                Optional.empty());
    }

    private static BackendSession connected(Backend backend) {
        BackendSession session = backend.openSession(state -> {});
        await(session, SessionState.CONNECTED);
        return session;
    }

    private static void await(BackendSession session, SessionState state) {
        Awaitility.await().until(() -> session.state() == state);
    }

    private static boolean isThere(BackendSession session) throws Exception {
        return session.submit(Exists.of(LATE))
                .toCompletableFuture()
                .get(120, TimeUnit.SECONDS)
                .isPresent();
    }

    @Test
    void nothingOfItTakesEffectOnceTheNextOneIsConnected() throws Exception {
        try (ConclaveServer server = TestServer.start();
                FaultProxy first = FaultProxy.to("127.0.0.1", TestServer.port(server));
                FaultProxy second = FaultProxy.to("127.0.0.1", TestServer.port(server));
                Backend backend = WireBackend.open(
                        ConnectString.parse("conclave://127.0.0.1:" + first.port() + ",127.0.0.1:" + second.port()),
                        options())) {
            second.refuse();
            BackendSession lost = connected(backend);
            first.stall(Direction.TO_TARGET);
            lost.submit(Create.of(LATE));
            first.refuse();
            second.accept();
            clientsTime.advance(TIMEOUT);
            await(lost, SessionState.LOST);

            BackendSession next = connected(backend);
            boolean isThereAtFirst = isThere(next);
            first.flow(Direction.TO_TARGET);
            Awaitility.await().until(() -> first.openConnections() == 0);
            assertEquals(isThereAtFirst, isThere(next));
            assertTrue(next.state().isLive());
        }
    }
}
