package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.client.WireBackend;
import io.conclave.error.CredentialsRejectedException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.request.GetData;
import io.conclave.session.Authentication;
import io.conclave.session.SessionState;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendSession;
import io.conclave.spi.ConnectString;
import io.conclave.spi.SessionListener;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.proxy.FaultProxy;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Our client proves by SASL who it is, before its session counts as connected. */
@ResourceLock("the JAAS configuration of the JVM")
class ClientSaslTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final String PASSWORD = "pw-of-bob-7351";

    @AfterEach
    void removeSections() {
        JaasSections.clear();
    }

    @BeforeEach
    void installSections() {
        JaasSections.set(Map.of(
                "Users", JaasSections.section(JaasSections.DIGEST_MODULE, Map.of("user_bob", PASSWORD)),
                "Client",
                        JaasSections.section(
                                JaasSections.DIGEST_MODULE, Map.of("username", "bob", "password", PASSWORD))));
    }

    private static ConclaveServer enforcing() {
        return TestServer.start(TestServer.config()
                .clientAuth(new ClientAuthConfig(
                        "SHA1", Set.of("sasl"), false, Set.of(), Optional.of("Users"), false, false, false, ""))
                .build());
    }

    /** A session of our client, and what it was told. */
    private static final class Client implements AutoCloseable {
        private final List<SessionState> states = new CopyOnWriteArrayList<>();
        private final AtomicInteger rejections = new AtomicInteger();
        private final Backend backend;
        private final BackendSession session;

        Client(int port, Authentication... proofs) {
            this(port, TimeSource.system(), proofs);
        }

        Client(int port, TimeSource time, Authentication... proofs) {
            backend = WireBackend.open(
                    ConnectString.parse("conclave://localhost:" + port),
                    new BackendOptions(
                            TIMEOUT,
                            time,
                            command -> new Thread(command).start(),
                            List.of(proofs),
                            Acl.OPEN,
                            1000,
                            MetricsHook.NONE,
                            true,
                            Optional.empty()));
            session = backend.openSession(states::add);
        }

        String outcome() {
            try {
                session.submit(GetData.of(NodePath.of("/")))
                        .toCompletableFuture()
                        .get(120, TimeUnit.SECONDS);
                return "done";
            } catch (ExecutionException e) {
                return e.getCause() instanceof RefusedException refused
                        ? refused.reason() + " " + refused.getMessage()
                        : e.getCause().toString();
            } catch (InterruptedException | TimeoutException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void close() {
            backend.close();
        }
    }

    @Test
    void aUserWithItsPasswordIsProvedBeforeTheSessionCountsAsConnected() {
        try (ConclaveServer server = enforcing();
                Client byPassword = new Client(TestServer.port(server), Authentication.saslDigestMd5("bob", PASSWORD));
                Client bySection = new Client(TestServer.port(server), Authentication.saslSection("Client"))) {
            assertEquals("done", byPassword.outcome());
            assertEquals("done", bySection.outcome());
            assertEquals(List.of(SessionState.CONNECTED), byPassword.states);
        }
    }

    @Test
    void itIsProvedAgainOnEveryConnection() {
        try (ConclaveServer server = enforcing();
                FaultProxy proxy = FaultProxy.to("localhost", TestServer.port(server));
                Client client = new Client(proxy.port(), Authentication.saslDigestMd5("bob", PASSWORD))) {
            assertEquals("done", client.outcome());
            for (int round = 1; round <= 3; round++) {
                int before = client.states.size();
                proxy.cut();
                await().until(() -> client.states.size() >= before + 2);
                assertEquals("done", client.outcome());
            }
        }
    }

    @Test
    void itIsProvedBeforeALostSessionIsEnded() {
        ManualTimeSource time = new ManualTimeSource();
        try (ConclaveServer server = enforcing();
                Client client =
                        new Client(TestServer.port(server), time, Authentication.saslDigestMd5("bob", PASSWORD))) {
            assertEquals("done", client.outcome());
            time.suspend(TIMEOUT);
            await().until(() -> client.states.contains(SessionState.LOST));
            BackendSession next = client.backend.openSession(new SessionListener() {
                @Override
                public void onState(SessionState state) {
                    client.states.add(state);
                }

                @Override
                public void onRejected(CredentialsRejectedException rejection) {
                    client.rejections.incrementAndGet();
                }
            });
            await().until(() -> next.state() == SessionState.CONNECTED);
            assertEquals(0, client.rejections.get());
        }
    }

    @Test
    void aWrongPasswordEndsInAClearErrorThatHasNoSecret() {
        try (ConclaveServer server = enforcing();
                Client client =
                        new Client(TestServer.port(server), Authentication.saslDigestMd5("bob", "wrong-7351"))) {
            String outcome = client.outcome();
            assertTrue(outcome.startsWith(RefusalReason.AUTH_FAILED + " "), outcome);
            assertTrue(outcome.contains(" rejected the credentials of the scheme sasl"), outcome);
            assertFalse(outcome.contains("7351"), outcome);
            assertEquals(List.of(), client.states);
        }
        assertFalse(Authentication.saslDigestMd5("bob", PASSWORD).toString().contains("7351"));
    }

    @Test
    void aServerWithoutSaslIsToldFromOneThatRefuses() {
        try (ConclaveServer server = TestServer.start();
                Client client = new Client(TestServer.port(server), Authentication.saslDigestMd5("bob", PASSWORD))) {
            String outcome = client.outcome();
            assertTrue(outcome.endsWith(" rejected the credentials of the scheme sasl: it offers no SASL"), outcome);
        }
    }
}
