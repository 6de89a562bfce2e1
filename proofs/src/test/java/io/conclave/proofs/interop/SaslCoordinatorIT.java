package io.conclave.proofs.interop;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ConnectException;
import io.conclave.error.CredentialsRejectedException;
import io.conclave.error.RefusedException;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetAcl;
import io.conclave.request.GetData;
import io.conclave.session.Authentication;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A coordinator that proves by SASL who it is, on both servers: its id, its next connection, and its errors. */
@Isolated("sets the JAAS file and the realm of the JVM")
class SaslCoordinatorIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String SERVICE = "zookeeper/localhost";
    private static final String PASSWORD = "pw-of-bob-7351";
    private static final String USERS =
            "org.apache.zookeeper.server.auth.DigestLoginModule required user_bob=\"" + PASSWORD + "\";";

    private final KerberosRealm realm = new KerberosRealm();
    private final List<Coordinator> coordinators = new ArrayList<>();
    private JaasFile jaas;
    private ServerUnderTest server;

    private void open(ServerKind kind, String modules) {
        jaas = new JaasFile(
                "Server { " + modules + " };\n" + "Bob { " + realm.module("bob", realm.keytab("bob"), true) + " };\n");
        server = kind.start();
    }

    private void openWithRealm(ServerKind kind) {
        open(kind, realm.module(SERVICE, realm.keytab(SERVICE), false));
    }

    @AfterEach
    void close() {
        coordinators.forEach(Coordinator::close);
        server.close();
        jaas.close();
        realm.close();
    }

    /** Over the name of the host, which is that of the server's principal. */
    private CoordinatorBuilder builder() {
        return Coordinator.builder(server.url().replace("127.0.0.1", "localhost"))
                .sessionTimeout(Duration.ofSeconds(30))
                .connectTimeout(PATIENCE)
                .defaultAcl(Acl.CREATOR_ONLY);
    }

    private Coordinator connect(Authentication authentication) throws Exception {
        Coordinator coordinator = builder().authentication(authentication).connect();
        coordinators.add(coordinator);
        return coordinator;
    }

    private Acl.Entry ownerOf(Coordinator coordinator, NodePath path) throws Exception {
        return coordinator.execute(GetAcl.of(path)).acl().entries().get(0);
    }

    private void assertOwns(Coordinator bob, String id) throws Exception {
        NodePath path = NodePath.of("/mine");
        bob.execute(Create.of(path));
        assertEquals("sasl", ownerOf(bob, path).scheme());
        assertEquals(id, ownerOf(bob, path).id());
        Coordinator stranger = builder().connect();
        coordinators.add(stranger);
        assertThrows(RefusedException.class, () -> stranger.execute(GetData.of(path)));
    }

    private void assertProvesItAgain(Coordinator bob) throws Exception {
        long session = RecipeAccess.session(bob).id();
        server.stop();
        await().atMost(PATIENCE).until(() -> bob.state() == SessionState.SUSPENDED);
        server.start();
        await().atMost(PATIENCE).until(() -> bob.state() == SessionState.CONNECTED);
        assertEquals(0, bob.execute(GetData.of(NodePath.of("/mine"))).data().length);
        assertEquals(session, RecipeAccess.session(bob).id());
    }

    @ParameterizedTest
    @EnumSource
    void aPasswordIsProvedOnEveryConnection(ServerKind kind) throws Exception {
        open(kind, USERS);
        Coordinator bob = connect(Authentication.saslDigestMd5("bob", PASSWORD));
        assertOwns(bob, "bob");
        assertProvesItAgain(bob);
    }

    /** The time limit would hold up the test. */
    @ParameterizedTest
    @EnumSource
    @Timeout(300)
    void aWrongPasswordIsAClearErrorAtOnceWithoutASecret(ServerKind kind) {
        open(kind, USERS);
        ConnectException refused = assertThrows(ConnectException.class, () -> builder()
                .connectTimeout(Duration.ofHours(1))
                .authentication(Authentication.saslDigestMd5("bob", "guess-7351"))
                .connect()
                .close());
        CredentialsRejectedException rejection = (CredentialsRejectedException) refused.getCause();
        assertEquals("sasl", rejection.scheme());
        assertEquals(server.url().replaceAll(".*:", "localhost:"), rejection.server());
        for (Throwable cause = refused; cause != null; cause = cause.getCause()) {
            assertFalse(cause.toString().contains("7351"), cause::toString);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aPrincipalIsProvedOnEveryConnection(ServerKind kind) throws Exception {
        openWithRealm(kind);
        Coordinator bob = connect(Authentication.saslSection("Bob"));
        assertOwns(bob, "bob@" + KerberosRealm.NAME);
        assertProvesItAgain(bob);
    }

    @ParameterizedTest
    @EnumSource(names = "CONCLAVE")
    void withoutAKdcTheErrorNamesTheLogin(ServerKind kind) {
        openWithRealm(kind);
        realm.stop();
        ConnectException failed = assertThrows(ConnectException.class, () -> builder()
                .connectTimeout(Duration.ofSeconds(5))
                .authentication(Authentication.saslSection("Bob"))
                .connect()
                .close());
        assertTrue(failed.getMessage().contains("the login of the section Bob has failed"), failed::getMessage);
    }
}
