package io.conclave.proofs.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.client.WireBackend;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.request.GetData;
import io.conclave.session.Authentication;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.ConnectString;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Our client with DIGEST-MD5 and GSSAPI at both servers. */
@Isolated("sets the JAAS file and the realm of the JVM")
class OurSaslClientIT {
    private static final String DIGEST = "org.apache.zookeeper.server.auth.DigestLoginModule required ";
    private static final String SERVICE = "zookeeper/localhost";

    private static String outcome(ServerUnderTest server, Authentication proof, int waitS) throws Exception {
        Backend backend = WireBackend.open(
                ConnectString.parse("zookeeper://localhost:" + server.port()),
                new BackendOptions(
                        Duration.ofSeconds(20),
                        TimeSource.system(),
                        task -> new Thread(task).start(),
                        List.of(proof),
                        Acl.OPEN,
                        100,
                        MetricsHook.NONE,
                        true,
                        Optional.empty()));
        try {
            backend.openSession(state -> {})
                    .submit(GetData.of(NodePath.of("/")))
                    .toCompletableFuture()
                    .get(waitS, TimeUnit.SECONDS);
            return "done";
        } catch (TimeoutException e) {
            return "not connected";
        } catch (ExecutionException e) {
            return String.valueOf(e.getCause().getMessage());
        } finally {
            backend.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aUserIsProvedByItsPassword(ServerKind kind) throws Exception {
        try (JaasFile jaas = new JaasFile("Server { " + DIGEST + "user_bob=\"pw-7351\"; };\nBob { " + DIGEST
                        + "username=\"bob\" password=\"pw-7351\"; };\n");
                ServerUnderTest server = kind.start()) {
            assertEquals("done", outcome(server, Authentication.saslDigestMd5("bob", "pw-7351"), 60));
            assertEquals("done", outcome(server, Authentication.saslSection("Bob"), 60));
            String wrong = outcome(server, Authentication.saslDigestMd5("bob", "other-7351"), 60);
            assertTrue(wrong.contains(" rejected the credentials of the scheme sasl"), wrong);
            assertFalse(wrong.contains("7351"), wrong);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aPrincipalIsProvedByItsTicket(ServerKind kind) throws Exception {
        try (KerberosRealm realm = new KerberosRealm();
                JaasFile jaas = new JaasFile("Server { " + realm.module(SERVICE, realm.keytab(SERVICE), false) + " };\n"
                        + "Bob { " + realm.module("bob", realm.keytab("bob"), true) + " };\n");
                ServerUnderTest server = kind.start()) {
            assertEquals("done", outcome(server, Authentication.saslSection("Bob"), 60));
            realm.stop();
            assertEquals("not connected", outcome(server, Authentication.saslSection("Bob"), 3), "no ticket");
        }
    }
}
