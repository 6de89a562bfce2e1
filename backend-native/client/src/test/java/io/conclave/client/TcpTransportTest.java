package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.metrics.MetricsHook;
import io.conclave.node.Acl;
import io.conclave.session.SessionState;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.ConnectString.Endpoint;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How connections are made. */
final class TcpTransportTest extends WireSessionFixture {
    private static final int SESSIONS = 10; // the addresses come in random order

    /** So long that no attempt ends by its time. */
    private static final int PATIENT_MS = 600_000;

    private static void patientlyOpenAndServe(FakeServer.Peer peer) throws Exception {
        peer.open(PATIENT_MS);
        serve(peer);
    }

    /** The second one is taken in the same attempt, not in the next. */
    @Test
    void eachAddressOfANameIsTried() throws Exception {
        FakeServer server =
                server(Collections.nCopies(SESSIONS, (FakeServer.Script) TcpTransportTest::patientlyOpenAndServe)
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
        BackendOptions options = options(metrics);
        TcpTransport transport =
                new TcpTransport(List.of(new Endpoint("two.example", port)), false, Optional.empty(), host ->
                        new InetAddress[] {InetAddress.getByName("127.0.0.2"), InetAddress.getByName(server.host())});
        try {
            for (int i = 0; i < SESSIONS; i++) {
                CountDownLatch connected = new CountDownLatch(1);
                WireSession session = new WireSession(transport, options, new LostSessions(), state -> {
                    if (state == SessionState.CONNECTED) {
                        connected.countDown();
                    }
                });
                session.open();
                connected.await(300, TimeUnit.SECONDS);
                assertEquals(0, connected.getCount());
                session.closeAsync().toCompletableFuture().get(300, TimeUnit.SECONDS);
                session.end();
            }
            assertEquals(0, failed.get(), "an attempt ended at the first address");
        } finally {
            transport.close();
        }
    }

    private static BackendOptions options(MetricsHook metrics) {
        return new BackendOptions(
                Duration.ofMillis(PATIENT_MS),
                TimeSource.system(),
                TestSession.CALLBACKS,
                List.of(),
                Acl.OPEN,
                100,
                metrics,
                false,
                Optional.empty());
    }

    /** Of 1,000 addresses most do not answer. Each has a thousandth of the attempt's ten minutes. */
    @Test
    void addressThatDoesNotAnswerLeavesTimeForTheOthers() throws Exception {
        FakeServer server = server(TcpTransportTest::patientlyOpenAndServe, TcpTransportTest::patientlyOpenAndServe);
        int port = Integer.parseInt(server.endpoint().split(":")[1]);
        InetAddress silent = InetAddress.getByName("127.0.0.2");
        List<InetAddress> addresses = new ArrayList<>(Collections.nCopies(700, silent));
        addresses.addAll(Collections.nCopies(300, InetAddress.getByName(server.host())));
        List<Socket> waiting = new ArrayList<>();
        TcpTransport transport = new TcpTransport(
                List.of(new Endpoint("many.example", port)),
                false,
                Optional.empty(),
                host -> addresses.toArray(InetAddress[]::new));
        try (ServerSocket full = new ServerSocket(port, 1, silent)) {
            fill(full, waiting);
            for (int i = 0; i < 2; i++) {
                connectAndClose(transport);
            }
            assertEquals(2, server.accepted());
        } finally {
            transport.close();
            for (Socket each : waiting) {
                each.close();
            }
        }
    }

    private static void connectAndClose(TcpTransport transport) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        WireSession session = new WireSession(transport, options(MetricsHook.NONE), new LostSessions(), state -> {
            if (state == SessionState.CONNECTED) {
                connected.countDown();
            }
        });
        session.open();
        assertTrue(connected.await(300, TimeUnit.SECONDS));
        session.closeAsync().toCompletableFuture().get(300, TimeUnit.SECONDS);
        session.end();
    }

    /** From then on nothing answers there: nobody accepts, and there is no room to wait for it. */
    private static void fill(ServerSocket server, List<Socket> waiting) throws IOException {
        try {
            while (true) {
                Socket next = new Socket();
                waiting.add(next);
                next.connect(server.getLocalSocketAddress(), 2000);
            }
        } catch (SocketTimeoutException e) {
            // full
        }
    }

    /** Of two servers one accepts connections and says nothing. The session's timeout is ten minutes. */
    @Test
    @Timeout(300)
    void aServerThatDoesNotAnswerLeavesTimeForTheOthersOfALongSession() {
        boolean met = false;
        while (!met) { // the servers come in random order
            ManualTimeSource time = new ManualTimeSource();
            FakeServer silent = server(FakeServer.Peer::ignore);
            FakeServer good = server(TcpTransportTest::patientlyOpenAndServe);
            try (TestSession session = new TestSession(
                    "conclave://" + silent.endpoint() + "," + good.endpoint(),
                    TestSession.options(Duration.ofMillis(PATIENT_MS), time, 100))) {
                time.advanceUntil(Duration.ofMillis(10), () -> good.accepted() > 0);
                long tookMs = time.monotonicNanos() / 1_000_000;
                session.awaitState(SessionState.CONNECTED);
                met = silent.accepted() > 0;
                assertTrue(tookMs < 15_000, tookMs + " ms");
            }
        }
    }

    /** Of two addresses of one name one accepts connections and closes them. */
    @Test
    @Timeout(300)
    void theAddressThatWasTriedLastIsTriedLast() throws Exception {
        FakeServer good =
                server(Collections.nCopies(2 * SESSIONS, (FakeServer.Script) TcpTransportTest::patientlyOpenAndServe)
                        .toArray(FakeServer.Script[]::new));
        int port = Integer.parseInt(good.endpoint().split(":")[1]);
        InetAddress address = InetAddress.getByName("127.0.0.2");
        AtomicInteger met = new AtomicInteger();
        TcpTransport transport =
                new TcpTransport(List.of(new Endpoint("two.example", port)), false, Optional.empty(), host ->
                        new InetAddress[] {address, InetAddress.getByName(good.host())});
        try (ServerSocket bad = new ServerSocket(port, 50, address)) {
            Thread closing = new Thread(() -> closeAll(bad, met));
            closing.start();
            for (int i = 0; i < 2 * SESSIONS; i++) {
                int before = met.get();
                connectAndClose(transport);
                assertTrue(met.get() - before <= 1, "an address that had failed was tried again at once");
            }
            assertTrue(met.get() > 0);
        } finally {
            transport.close();
        }
    }

    /** An address of one link means nothing without it. */
    @Test
    void theZoneOfAnAddressIsNotLost() throws Exception {
        FakeServer server = server(TcpTransportTest::patientlyOpenAndServe);
        int port = Integer.parseInt(server.endpoint().split(":")[1]);
        List<String> hosts = new CopyOnWriteArrayList<>();
        TcpTransport transport =
                new TcpTransport(List.of(new Endpoint("fe80::1%eth0", port)), false, Optional.empty(), host -> {
                    hosts.add(host);
                    return new InetAddress[] {InetAddress.getByName(server.host())};
                });
        try {
            connectAndClose(transport);
            assertEquals(List.of("fe80::1%eth0"), hosts);
        } finally {
            transport.close();
        }
    }

    /** Closes each connection that it accepts, until the test is over. */
    private static void closeAll(ServerSocket server, AtomicInteger accepted) {
        try {
            while (true) {
                Socket next = server.accept();
                accepted.incrementAndGet();
                next.close();
            }
        } catch (IOException e) {
            // over
        }
    }

    /** A server that has moved is found at its new address: the first connection, and one that takes its place. */
    @Test
    void nameIsResolvedAgainAtEveryAttempt() throws Exception {
        FakeServer server = server(
                TcpTransportTest::patientlyOpenAndServe,
                TcpTransportTest::patientlyOpenAndServe,
                TcpTransportTest::patientlyOpenAndServe);
        int port = Integer.parseInt(server.endpoint().split(":")[1]);
        AtomicInteger lookUps = new AtomicInteger();
        TcpTransport transport =
                new TcpTransport(List.of(new Endpoint("moved.example", port)), false, Optional.empty(), host -> {
                    String address =
                            switch (lookUps.incrementAndGet()) {
                                case 1, 2 -> "127.0.0.2"; // where it is no more
                                case 3 -> throw new UnknownHostException("no name server answers");
                                default -> server.host();
                            };
                    return new InetAddress[] {InetAddress.getByName(address)};
                });
        try {
            for (int i = 1; i <= 2; i++) {
                connectAndClose(transport);
                assertEquals(3 + i, lookUps.get());
            }
        } finally {
            transport.close();
        }
    }
}
