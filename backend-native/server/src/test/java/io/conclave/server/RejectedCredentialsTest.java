package io.conclave.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.error.ConnectException;
import io.conclave.error.CredentialsRejectedException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.session.Authentication;
import io.conclave.session.SessionState;
import io.conclave.testkit.proxy.FreePort;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** What an application sees whose credentials a server rejects: at its start, and after a change of the users. */
@ResourceLock("the JAAS configuration of the JVM")
@Timeout(300)
class RejectedCredentialsTest {
    private static final Authentication BOB = Authentication.saslDigestMd5("bob", "pw-7351");

    /** Nothing here may wait for it. */
    private static final Duration TOO_LONG = Duration.ofHours(1);

    /**
     * Rejected credentials are tried again with the next session, and that comes a timeout later. A server can start
     * within it, so that the session before is still there.
     */
    private static final Duration SESSION_TIMEOUT = Duration.ofSeconds(4);

    private final int port = FreePort.find();
    private final List<CredentialsRejectedException> told = new CopyOnWriteArrayList<>();
    private final List<SessionState> states = new CopyOnWriteArrayList<>();

    @TempDir
    private Path directory;

    @AfterEach
    void removeSections() {
        JaasSections.clear();
    }

    @BeforeEach
    void thePasswordIsRight() {
        users("pw-7351");
    }

    private static void users(String password) {
        JaasSections.setUsers(Map.of("user_bob", password));
    }

    private ConclaveServer start(Set<String> enforced) {
        return TestServer.start(TestServer.config()
                .clientPort(port)
                .dataDirectory(Optional.of(directory))
                .clientAuth(new ClientAuthConfig(
                        "SHA1", enforced, false, Set.of(), Optional.of("Users"), false, false, false, ""))
                .build());
    }

    private CoordinatorBuilder builder() {
        return Coordinator.builder("conclave://localhost:" + port + "/app").connectTimeout(TOO_LONG);
    }

    private CredentialsRejectedException rejection(CoordinatorBuilder builder) {
        ConnectException failed =
                assertThrows(ConnectException.class, () -> builder.connect().close());
        assertTrue(failed.getMessage().contains("localhost:" + port), failed::getMessage);
        CredentialsRejectedException rejection = (CredentialsRejectedException) failed.getCause();
        assertTrue(failed.getMessage().contains(rejection.getMessage()), failed::getMessage);
        assertEquals("localhost:" + port, rejection.server());
        for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
            assertFalse(cause.toString().contains("7351"), cause::toString);
        }
        return rejection;
    }

    private static Optional<Throwable> failure(Coordinator coordinator) {
        return coordinator
                .submit(Exists.of(NodePath.of("/a")))
                .handle((stat, failure) -> Optional.<Throwable>ofNullable(failure))
                .join();
    }

    private static void awaitRefusal(Coordinator coordinator) {
        await().until(() -> failure(coordinator)
                .filter(failure ->
                        failure instanceof RefusedException refused && refused.reason() == RefusalReason.AUTH_FAILED)
                .isPresent());
    }

    @Test
    void connectFailsAtOnceAndNamesServerSchemeAndReason() {
        try (ConclaveServer server = start(Set.of())) {
            CredentialsRejectedException wrong =
                    rejection(builder().authentication(Authentication.saslDigestMd5("bob", "no-7351")));
            assertEquals("sasl", wrong.scheme());
            assertTrue(wrong.getMessage().endsWith("AUTH_FAILED (-115)"), wrong::getMessage);

            CredentialsRejectedException unknown = rejection(builder()
                    .authentication(Authentication.digest("bob", "pw-7351"))
                    .authentication(new Authentication("unheard-of", new byte[1])));
            assertEquals("unheard-of", unknown.scheme());
        }
    }

    @Test
    void aServerThatWantsCredentialsIsNotConnectedToWithoutThem() {
        try (ConclaveServer server = start(Set.of("sasl"))) {
            CredentialsRejectedException none = rejection(builder());
            assertEquals("", none.scheme());
            assertTrue(none.getMessage().contains("wants credentials"), none::getMessage);
            assertEquals(
                    "digest",
                    rejection(builder().authentication(Authentication.digest("bob", "pw-7351")))
                            .scheme());
        }
    }

    /** A coordinator that waits for its servers learns of it, and of the end of it. */
    @Test
    void aCoordinatorThatWasStartedTellsAndTriesAgainWithItsNextSession() {
        users("other");
        try (Coordinator coordinator =
                builder().sessionTimeout(SESSION_TIMEOUT).authentication(BOB).start()) {
            try (ConclaveServer server = start(Set.of("sasl"))) {
                awaitRefusal(coordinator);
                coordinator.onRejection(told::add); // too late for the first
                await().until(() -> !told.isEmpty());
                assertEquals("sasl", told.get(0).scheme());
                assertEquals(SessionState.CONNECTING, coordinator.state());
                int before = told.size();
                await().until(() -> told.size() > before);
            }
            thePasswordIsRight();
            try (ConclaveServer server = start(Set.of("sasl"))) {
                await().until(() -> failure(coordinator).isEmpty());
                List<CredentialsRejectedException> late = new CopyOnWriteArrayList<>();
                coordinator.onRejection(late::add);
                await().until(() -> failure(coordinator).isEmpty());
                assertEquals(List.of(), late, "it is over");
            }
        }
    }

    @Test
    void aPasswordThatIsChangedLaterSuspendsTheSessionAndIsTold() {
        ConclaveServer first = start(Set.of("sasl"));
        try (Coordinator coordinator =
                builder().sessionTimeout(SESSION_TIMEOUT).authentication(BOB).connect()) {
            coordinator.onRejection(told::add);
            coordinator.onStateChange(states::add);
            first.close();
            users("other");
            try (ConclaveServer second = start(Set.of("sasl"))) {
                await().until(() -> !told.isEmpty());
                awaitRefusal(coordinator);
                await().until(() -> told.size() >= 2);
                await().until(() -> states.contains(SessionState.LOST));
                assertEquals(SessionState.SUSPENDED, states.get(0));
                assertEquals(SessionState.LOST, coordinator.state());
            }
            thePasswordIsRight();
            try (ConclaveServer third = start(Set.of("sasl"))) {
                await().until(() -> failure(coordinator).isEmpty());
            }
        } finally {
            first.close();
        }
    }
}
