package io.conclave.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.conclave.testkit.tls.CertificateAuthority;
import io.conclave.testkit.tls.TestCertificate;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Handshakes over sockets: who gets through, and what both ends say of those that fail. */
class HandshakeTest {
    private static final CertificateAuthority AUTHORITY = new CertificateAuthority("CN=an authority");
    private static final CertificateAuthority FOREIGN = new CertificateAuthority("CN=a foreign authority");
    private static final TestCertificate SERVER = AUTHORITY.issue("CN=server", "localhost", "127.0.0.1");
    private static final TestCertificate CLIENT = AUTHORITY.issue("CN=bob,O=example");

    @TempDir
    private Path directory;

    /** A busy machine may take longer than the 10 s of a server. */
    private static final Duration PATIENCE = Duration.ofSeconds(100);

    private int files;

    private TlsSettings.Builder settings(Optional<TestCertificate> own, CertificateAuthority trusted) {
        TlsSettings.Builder builder = TlsSettings.builder("ssl.")
                .handshakeTimeout(PATIENCE)
                .trustStore(StoreFile.of(
                        "ssl.trustStore.location",
                        trusted.writePem(directory.resolve("trust" + files++ + ".pem")),
                        StorePassword.none()));
        own.ifPresent(certificate -> builder.keyStore(StoreFile.of(
                "ssl.keyStore.location",
                certificate.writePem(directory.resolve("own" + files++ + ".pem")),
                StorePassword.none())));
        return builder;
    }

    private TlsContext server(TestCertificate own, ClientAuthentication clients) {
        return TlsContext.forServer(
                settings(Optional.of(own), AUTHORITY)
                        .clientAuthentication(clients)
                        .build(),
                Runnable::run);
    }

    private TlsContext client(Optional<TestCertificate> own, CertificateAuthority trusted) {
        return TlsContext.forClient(settings(own, trusted).build(), Runnable::run);
    }

    private static HandshakePair run(TlsContext server, TlsContext client, String host) throws Exception {
        HandshakePair pair = new HandshakePair();
        pair.run(server, client, host);
        return pair;
    }

    private static void assertHas(String text, String... parts) {
        for (String part : parts) {
            assertTrue(text.contains(part), () -> "no \"" + part + "\" in: " + text);
        }
    }

    @Test
    void bothEndsKnowEachOther() throws Exception {
        HandshakePair pair =
                run(server(SERVER, ClientAuthentication.NEED), client(Optional.of(CLIENT), AUTHORITY), "localhost");
        assertEquals("CN=server", pair.client.get());
        assertEquals("CN=bob,O=example", pair.server.get());
    }

    @Test
    void clientWithoutACertificateGetsInWhereItIsOnlyWanted() throws Exception {
        HandshakePair pair =
                run(server(SERVER, ClientAuthentication.WANT), client(Optional.empty(), AUTHORITY), "127.0.0.1");
        assertEquals("CN=server", pair.client.get());
        assertEquals("", pair.server.get());
    }

    @Test
    void clientWithoutACertificateIsRefusedWhereItIsNeeded() throws Exception {
        for (String protocol : TlsSettings.DEFAULT_PROTOCOLS) {
            TlsContext client = TlsContext.forClient(
                    settings(Optional.empty(), AUTHORITY)
                            .protocols(List.of(protocol))
                            .build(),
                    Runnable::run);
            HandshakePair pair = run(server(SERVER, ClientAuthentication.NEED), client, "localhost");
            assertHas(pair.server.get(), "the client sent no certificate", "ssl.clientAuth=need");
            // with TLS 1.3 the client may send first, and learn the reason after it
            if (protocol.equals("TLSv1.2")) {
                assertHas(pair.client.get(), "the server wants a certificate of the client, and this client has none");
            }
        }
    }

    @Test
    void serverOfAForeignAuthorityIsRefused() throws Exception {
        HandshakePair pair =
                run(server(SERVER, ClientAuthentication.NONE), client(Optional.empty(), FOREIGN), "localhost");
        assertHas(
                pair.client.get(),
                "the certificate CN=server (issued by CN=an authority, valid from ",
                "is not signed by any of the 1 authority in the trust store " + directory.resolve("trust"));
        assertHas(pair.server.get(), "the client refused the certificate CN=server", "(alert ");
    }

    @Test
    void clientOfAForeignAuthorityIsRefused() throws Exception {
        // Java's clients do not send a certificate of an authority whose name the server does not know
        CertificateAuthority sameName = new CertificateAuthority("CN=an authority");
        for (ClientAuthentication clients : List.of(ClientAuthentication.WANT, ClientAuthentication.NEED)) {
            HandshakePair pair = run(
                    server(SERVER, clients), client(Optional.of(sameName.issue("CN=mallory")), AUTHORITY), "localhost");
            assertHas(pair.server.get(), "the certificate CN=mallory", "is not signed by any of the 1 authority");
        }
        TestCertificate foreign = FOREIGN.issue("CN=mallory");
        HandshakePair pair =
                run(server(SERVER, ClientAuthentication.WANT), client(Optional.of(foreign), AUTHORITY), "localhost");
        assertEquals("", pair.server.get());
    }

    @Test
    void expiredCertificateIsRefusedByBothSides() throws Exception {
        TlsContext expired = server(AUTHORITY.issueExpired("CN=server", "localhost"), ClientAuthentication.NONE);
        HandshakePair pair = run(expired, client(Optional.empty(), AUTHORITY), "localhost");
        assertHas(pair.client.get(), "the certificate CN=server", "issued by CN=an authority", "expired on 2");
        assertHas(pair.server.get(), "the client refused the certificate CN=server", "(alert certificate");

        pair = run(
                server(SERVER, ClientAuthentication.NEED),
                client(Optional.of(AUTHORITY.issueExpired("CN=bob")), AUTHORITY),
                "localhost");
        assertHas(pair.server.get(), "the certificate CN=bob", "expired on 2");
    }

    @Test
    void handshakesOfCallersAreComputedByTheExecutor() throws Exception {
        AtomicInteger computed = new AtomicInteger();
        TlsContext server =
                TlsContext.forServer(settings(Optional.of(SERVER), AUTHORITY).build(), task -> {
                    computed.incrementAndGet();
                    task.run();
                });
        HandshakePair pair = run(server, client(Optional.of(CLIENT), AUTHORITY), "localhost");
        assertEquals("CN=bob,O=example", pair.server.get());
        assertTrue(computed.get() > 0);
    }

    @Test
    void handshakesOfAnAddressAreComputedByItsExecutor() {
        List<String> computed = new ArrayList<>();
        TlsContext server = TlsContext.forServerByAddress(
                settings(Optional.of(SERVER), AUTHORITY).build(), address -> task -> computed.add(address));
        for (String address : List.of("10.0.0.1", "10.0.0.2")) {
            EmbeddedChannel called = new EmbeddedChannel(server.serverHandler(address, 1));
            EmbeddedChannel caller =
                    new EmbeddedChannel(client(Optional.empty(), AUTHORITY).clientHandler("localhost", 1));
            ByteBuf hello = caller.readOutbound();
            called.writeInbound(hello);
        }
        assertEquals(List.of("10.0.0.1", "10.0.0.2"), computed);
    }

    @Test
    void handshakeForWhichTheExecutorHasNoRoomFails() throws Exception {
        TlsContext server =
                TlsContext.forServer(settings(Optional.of(SERVER), AUTHORITY).build(), task -> {
                    throw new RejectedExecutionException();
                });
        HandshakePair pair = run(server, client(Optional.of(CLIENT), AUTHORITY), "localhost");
        assertEquals("failed: too many other handshakes of TLS wait for this one to be computed", pair.server.get());
    }

    @Test
    void certificateForAnotherHostIsRefused() throws Exception {
        HandshakePair pair =
                run(server(SERVER, ClientAuthentication.NONE), client(Optional.empty(), AUTHORITY), "other.example");
        assertHas(pair.client.get(), "the certificate CN=server", "is for localhost, 127.0.0.1, not for other.example");

        TlsContext lenient = TlsContext.forClient(
                settings(Optional.empty(), AUTHORITY).verifiesServerNames(false).build(), Runnable::run);
        assertEquals(
                "CN=server",
                run(server(SERVER, ClientAuthentication.NONE), lenient, "other.example")
                        .client
                        .get());
    }

    @Test
    void addressOfAClientIsVerifiedIfAskedFor() throws Exception {
        TlsContext strict = TlsContext.forServer(
                settings(Optional.of(SERVER), AUTHORITY)
                        .verifiesClientAddresses(true)
                        .build(),
                Runnable::run);
        assertHas(
                run(strict, client(Optional.of(AUTHORITY.issue("CN=bob", "10.9.8.7")), AUTHORITY), "localhost")
                        .server
                        .get(),
                "CN=bob",
                "is for 10.9.8.7, not for 127.0.0.1");
        assertEquals(
                "CN=bob",
                run(strict, client(Optional.of(AUTHORITY.issue("CN=bob", "127.0.0.1")), AUTHORITY), "localhost")
                        .server
                        .get());
    }

    @Test
    void versionsThatDoNotMeetAreTold() throws Exception {
        TlsContext old = TlsContext.forServer(
                settings(Optional.of(SERVER), AUTHORITY)
                        .protocols(List.of("TLSv1.2"))
                        .build(),
                Runnable::run);
        TlsContext recent = TlsContext.forClient(
                settings(Optional.of(CLIENT), AUTHORITY)
                        .protocols(List.of("TLSv1.3"))
                        .build(),
                Runnable::run);
        HandshakePair pair = run(old, recent, "localhost");
        assertHas(pair.client.get(), "none of the versions [TLSv1.3]");
        assertHas(pair.server.get(), "TLSv1.3");
    }

    @Test
    void changedFilesCountForNewConnections() throws Exception {
        TlsContext server = server(SERVER, ClientAuthentication.NONE);
        Path file = server.settings().keyStore().orElseThrow().location();
        TlsContext client = client(Optional.empty(), AUTHORITY);
        assertFalse(server.reloadIfChanged(), "nothing has changed");

        AUTHORITY.issue("CN=next", "localhost").writePem(file);
        assertTrue(server.reloadIfChanged());
        assertEquals("CN=next", run(server, client, "localhost").client.get());

        Files.writeString(file, "broken");
        assertFalse(server.reloadIfChanged(), "a broken file changes nothing");
        assertFalse(server.reloadIfChanged());
        assertEquals("CN=next", run(server, client, "localhost").client.get());

        Files.delete(file);
        assertFalse(server.reloadIfChanged(), "a missing file changes nothing");
        SERVER.writePem(file);
        assertTrue(server.reloadIfChanged());
        assertEquals("CN=server", run(server, client, "localhost").client.get());
    }

    @Test
    void revocationIsCheckedOnTheGivenThreads() throws Exception {
        // no list can be fetched, so the certificate is refused: the check is in force
        TlsContext client = TlsContext.forClient(
                settings(Optional.empty(), AUTHORITY).checksCrl(true).build(), task -> new Thread(task).start());
        HandshakePair pair = run(server(SERVER, ClientAuthentication.NONE), client, "localhost");
        assertHas(pair.client.get(), "the certificate CN=server", "is refused", "revocation");
    }

    @Test
    void aCertificateThatItsResponderCallsRevokedIsRefused() throws Exception {
        HttpServer responder = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        responder.start();
        try {
            CertificateAuthority asked = new CertificateAuthority(
                    "CN=asked",
                    URI.create("http://127.0.0.1:" + responder.getAddress().getPort()));
            TestCertificate own = asked.issue("CN=server", "localhost");
            AtomicBoolean revoked = new AtomicBoolean();
            responder.createContext("/", exchange -> {
                byte[] answer = asked.answerOf(own, revoked.get());
                exchange.sendResponseHeaders(200, answer.length);
                exchange.getResponseBody().write(answer);
                exchange.close();
            });
            TlsContext server = server(own, ClientAuthentication.NONE);
            TlsContext client = TlsContext.forClient(
                    settings(Optional.empty(), asked).checksOcsp(true).build(), task -> new Thread(task).start());
            assertEquals("CN=server", run(server, client, "localhost").client.get());
            revoked.set(true);
            assertHas(run(server, client, "localhost").client.get(), "CN=server", "has been revoked");
        } finally {
            responder.stop(0);
        }
    }
}
