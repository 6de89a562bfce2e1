package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.ReplyBody;
import java.io.IOException;
import java.security.Provider;
import java.security.Security;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.security.auth.callback.CallbackHandler;
import javax.security.sasl.Sasl;
import javax.security.sasl.SaslException;
import javax.security.sasl.SaslServer;
import javax.security.sasl.SaslServerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** What a mechanism of SASL holds is freed when its connection ends, and not while a step of it is under way. */
@ResourceLock("the JAAS configuration of the JVM")
class SaslDisposalTest {
    private static final List<Watched> MADE = new CopyOnWriteArrayList<>();

    private final CountingProvider provider = new CountingProvider();

    /** Stands in front of Java's own, and makes mechanisms of those. */
    private static final class CountingProvider extends Provider {
        private static final long serialVersionUID = 1L;

        CountingProvider() {
            super("ConclaveCounting", "1", "counts mechanisms of SASL");
            put("SaslServerFactory.DIGEST-MD5", Factory.class.getName());
        }
    }

    /** Made by Java, by its name. */
    public static final class Factory implements SaslServerFactory {
        @Override
        public SaslServer createSaslServer(
                String mechanism, String protocol, String server, Map<String, ?> properties, CallbackHandler handler)
                throws SaslException {
            for (SaslServerFactory other : Collections.list(Sasl.getSaslServerFactories())) {
                SaslServer made = other instanceof Factory
                        ? null
                        : other.createSaslServer(mechanism, protocol, server, properties, handler);
                if (made != null) {
                    Watched watched = new Watched(made);
                    MADE.add(watched);
                    return watched;
                }
            }
            return null;
        }

        @Override
        public String[] getMechanismNames(Map<String, ?> properties) {
            return new String[] {"DIGEST-MD5"};
        }
    }

    /** One whose second step waits until it may go on. */
    private static final class Watched implements SaslServer {
        private final SaslServer mechanism;
        private final CountDownLatch mayStep = new CountDownLatch(1);
        private final AtomicInteger steps = new AtomicInteger();
        private final AtomicInteger disposals = new AtomicInteger();
        private final AtomicBoolean stepping = new AtomicBoolean();
        private final AtomicBoolean disturbed = new AtomicBoolean();

        Watched(SaslServer mechanism) {
            this.mechanism = mechanism;
        }

        @Override
        public byte[] evaluateResponse(byte[] response) throws SaslException {
            if (response.length == 2) {
                throw new StackOverflowError("as a parser may meet it in a token that is nested deeply");
            }
            stepping.set(true);
            try {
                if (steps.incrementAndGet() == 2 && !mayStep.await(120, TimeUnit.SECONDS)) {
                    throw new SaslException("the test is stuck");
                }
                return mechanism.evaluateResponse(response);
            } catch (InterruptedException e) {
                throw new SaslException("interrupted", e);
            } finally {
                stepping.set(false);
            }
        }

        @Override
        public void dispose() throws SaslException {
            disturbed.compareAndSet(false, stepping.get());
            disposals.incrementAndGet();
            mechanism.dispose();
        }

        @Override
        public String getMechanismName() {
            return mechanism.getMechanismName();
        }

        @Override
        public boolean isComplete() {
            return mechanism.isComplete();
        }

        @Override
        public String getAuthorizationID() {
            return mechanism.getAuthorizationID();
        }

        @Override
        public byte[] unwrap(byte[] incoming, int offset, int length) throws SaslException {
            return mechanism.unwrap(incoming, offset, length);
        }

        @Override
        public byte[] wrap(byte[] outgoing, int offset, int length) throws SaslException {
            return mechanism.wrap(outgoing, offset, length);
        }

        @Override
        public Object getNegotiatedProperty(String name) {
            return mechanism.getNegotiatedProperty(name);
        }
    }

    @BeforeEach
    void install() {
        MADE.clear();
        Security.insertProviderAt(provider, 1);
        JaasSections.setUsers(Map.of("user_bob", "pw"));
    }

    @AfterEach
    void remove() {
        Security.removeProvider(provider.getName());
        JaasSections.clear();
    }

    private static ConclaveServer server() {
        return TestServer.start(TestServer.config()
                .clientAuth(new ClientAuthConfig(
                        "SHA1", Set.of(), false, Set.of(), Optional.of("Users"), false, false, false, ""))
                .build());
    }

    private static RawClient begun(ConclaveServer server) throws IOException {
        RawClient client = RawClient.attached(TestServer.port(server), 60_000);
        assertNotNull(client.call(new ConnectionRequest.Sasl(new byte[0]), ReplyBody.Sasl.class)
                .token());
        return client;
    }

    @Test
    void anExchangeOfAConnectionThatClosesInTheMiddleIsDisposedOfOnce() throws IOException {
        try (ConclaveServer server = server()) {
            for (int round = 0; round < 3; round++) {
                begun(server).close();
                Watched mechanism = MADE.get(round);
                await().until(() -> mechanism.disposals.get() > 0);
            }
        }
        MADE.forEach(mechanism -> assertEquals(1, mechanism.disposals.get()));
    }

    @Test
    void aStepThatIsUnderWayIsNotDisturbed() throws IOException {
        try (ConclaveServer server = server()) {
            RawClient client = begun(server);
            client.send(new ConnectionRequest.Sasl(new byte[] {1}));
            Watched mechanism = MADE.get(0);
            await().until(mechanism.stepping::get);
            client.close();
            try (RawClient other = begun(server)) { // served behind the end of the first, by the other thread
                mechanism.mayStep.countDown();
                await().until(() -> mechanism.disposals.get() > 0);
                assertEquals(false, mechanism.disturbed.get());
            }
        }
    }

    /** Whatever a token does to a mechanism, its connection does not wait for the answer without end. */
    @Test
    void aStepThatEndsWithAnErrorIsAnswered() throws IOException {
        try (ConclaveServer server = server();
                RawClient client = begun(server)) {
            assertEquals(ErrorCode.AUTH_FAILED.code(), client.error(new ConnectionRequest.Sasl(new byte[2])));
            await().until(() -> MADE.get(0).disposals.get() == 1);
        }
    }

    @Test
    void theServersEndFreesThemToo() throws IOException {
        try (ConclaveServer server = server();
                RawClient client = begun(server)) {
            assertEquals(0, MADE.get(0).disposals.get());
        }
        await().until(() -> MADE.get(0).disposals.get() == 1);
    }
}
