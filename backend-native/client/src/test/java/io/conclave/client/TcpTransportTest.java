package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.metrics.MetricsHook;
import io.conclave.node.Acl;
import io.conclave.session.SessionState;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.ConnectString.Endpoint;
import io.conclave.time.TimeSource;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** How connections are made. */
final class TcpTransportTest extends WireSessionFixture {
    private static final int SESSIONS = 10; // the addresses come in random order

    /** The second one is taken in the same attempt, not in the next. */
    @Test
    void eachAddressOfANameIsTried() throws Exception {
        FakeServer server = server(Collections.nCopies(SESSIONS, (FakeServer.Script) WireSessionFixture::openAndServe)
                .toArray(FakeServer.Script[]::new));
        int port = Integer.parseInt(server.endpoint().split(":")[1]);
        AtomicInteger failed = new AtomicInteger();
        MetricsHook metrics = new MetricsHook() {
            @Override
            public void count(String name, String subject) {
                if (name.equals("connection.failed")) {
                    failed.incrementAndGet();
                }
            }
        };
        BackendOptions options = new BackendOptions(
                Duration.ofMillis(TIMEOUT_MS),
                TimeSource.system(),
                TestSession.CALLBACKS,
                List.of(),
                Acl.OPEN,
                100,
                metrics,
                false,
                Optional.empty());
        TcpTransport transport =
                new TcpTransport(List.of(new Endpoint("two.example", port)), 5000, false, Optional.empty(), host ->
                        new InetAddress[] {InetAddress.getByName("127.0.0.2"), InetAddress.getByName("127.0.0.1")});
        try {
            for (int i = 0; i < SESSIONS; i++) {
                CountDownLatch connected = new CountDownLatch(1);
                WireSession session = new WireSession(transport, options, state -> {
                    if (state == SessionState.CONNECTED) {
                        connected.countDown();
                    }
                });
                session.open();
                connected.await(120, TimeUnit.SECONDS);
                assertEquals(0, connected.getCount());
                session.closeAsync().toCompletableFuture().get(120, TimeUnit.SECONDS);
                session.end();
            }
            assertEquals(0, failed.get(), "an attempt ended at the first address");
        } finally {
            transport.close();
        }
    }
}
