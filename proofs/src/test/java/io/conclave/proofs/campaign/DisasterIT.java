package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleBuilder;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import io.conclave.session.SessionState;
import io.conclave.testkit.tls.CertificateAuthority;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Walks those pages of docs/disasters.md that have no test of their own, by the commands that stand there. */
@Timeout(300)
class DisasterIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration YEAR = Duration.ofDays(365);
    private static final int WRITES = 100;
    private static final int MOST_ELECTIONS = 20;
    private static final NodePath EPHEMERAL = NodePath.of("/ephemeral");

    @TempDir
    private Path home;

    private EnsembleBuilder servers() {
        return Ensemble.of(EnsembleKind.CONCLAVE, home).ticks(500, 20, 4).withSmallJvms();
    }

    private Ensemble start() {
        return servers().start();
    }

    private static Coordinator connect(String connectString) {
        return connect(connectString, Duration.ofSeconds(20));
    }

    private static Coordinator connect(String connectString, Duration sessionTimeout) {
        return Coordinator.builder(connectString)
                .sessionTimeout(sessionTimeout)
                .connectTimeout(PATIENCE)
                .connect();
    }

    private static NodePath node(int number) {
        return NodePath.of("/n" + number);
    }

    private static void write(Coordinator client, int from) throws InterruptedException {
        for (int i = from; i < from + WRITES; i++) {
            client.execute(Create.of(node(i)).withData(StoreClient.bytes(i)));
        }
    }

    private static void assertAllThere(Ensemble ensemble, Member member, int count) throws InterruptedException {
        try (Coordinator client = connect(ensemble.connectString(member))) {
            client.execute(Sync.of(node(0)));
            for (int i = 0; i < count; i++) {
                assertArrayEquals(
                        StoreClient.bytes(i),
                        client.execute(GetData.of(node(i))).data());
            }
        }
    }

    /** All at the same moment, in the middle of writes; the client's session is there again with its znode. */
    @Test
    void powerIsLostEverywhere() throws Exception {
        Duration longerThanTheStart = Duration.ofMinutes(2); // of three processes on a busy machine
        try (Ensemble ensemble = servers()
                        .with("maxSessionTimeout", (int) longerThanTheStart.toMillis())
                        .start();
                Coordinator client = connect(ensemble.connectString(), longerThanTheStart)) {
            long session = RecipeAccess.session(client).id();
            client.execute(Create.of(EPHEMERAL).withMode(CreateMode.EPHEMERAL));
            write(client, 0);
            for (int i = WRITES; i < 2 * WRITES; i++) {
                client.submit(Create.of(node(i)).withData(StoreClient.bytes(i)));
            }
            for (Member member : ensemble.members()) {
                member.kill();
            }
            ensemble.members().forEach(Member::start);
            ensemble.awaitAllServing();
            Awaitility.await().atMost(PATIENCE).until(() -> client.state() == SessionState.CONNECTED);
            assertEquals(session, RecipeAccess.session(client).id());
            assertEquals(0, client.execute(GetData.of(EPHEMERAL)).data().length);
            for (Member member : ensemble.members()) {
                assertAllThere(ensemble, member, WRITES);
            }
        }
    }

    @Test
    void theWrongMemberIsRemovedAndTakenInAgain() throws Exception {
        try (Ensemble ensemble = start();
                Coordinator client = connect(ensemble.connectString())) {
            write(client, 0);
            Member leader = ensemble.awaitAllServing();
            Member wrong = ensemble.others(leader).get(0);
            leader.command("remove", Integer.toString(wrong.number()));
            Awaitility.await().atMost(PATIENCE).until(() -> !Members.in(client).contains(wrong.number()));
            write(client, WRITES);

            leader.command("add", wrong.line("participant"));
            if (!wrong.isAlive()) {
                wrong.start();
            }
            Awaitility.await().atMost(PATIENCE).until(() -> Members.in(client).votes(wrong.number()));
            ensemble.awaitAllServing();
            assertAllThere(ensemble, wrong, 2 * WRITES);

            leader.kill(); // so that the vote of the one that is back is needed
            ensemble.awaitLeader();
            write(client, 2 * WRITES);
        }
    }

    /** Links that are up outlive it. A server that restarts is alone until there are new files, and comes by itself. */
    @Test
    void theCertificatesHaveExpired() throws Exception {
        CertificateAuthority authority = new CertificateAuthority("CN=our authority");
        Path own = authority.issue("CN=in time", "127.0.0.1").writePem(home.resolve("own.pem"));
        try (Ensemble ensemble = Ensemble.of(EnsembleKind.CONCLAVE, home)
                        .ticks(500, 20, 4)
                        .withSmallJvms()
                        .with("sslQuorum", true)
                        .with("ssl.quorum.keyStore.location", own)
                        .with("ssl.quorum.trustStore.location", authority.writePem(home.resolve("trust.pem")))
                        .start();
                Coordinator client = connect(ensemble.connectString())) {
            long session = RecipeAccess.session(client).id();
            write(client, 0);
            authority.issueExpired("CN=too late", "127.0.0.1").writePem(own);
            for (Member member : ensemble.members()) {
                awaitLogged(member, "CN=too late");
            }
            write(client, WRITES);

            Member leader = ensemble.awaitAllServing();
            Member alone = ensemble.others(leader).get(0);
            alone.terminate();
            alone.start();
            for (Member end : List.of(leader, alone)) {
                awaitLogged(end, "the certificate CN=too late (issued by CN=our authority");
                awaitLogged(end, "expired on ");
            }
            assertEquals(Member.Mode.NOT_SERVING, alone.mode());
            write(client, 2 * WRITES);

            authority.issue("CN=renewed", "127.0.0.1").writePem(own);
            ensemble.awaitAllServing();
            assertAllThere(ensemble, alone, 3 * WRITES);
            assertEquals(session, RecipeAccess.session(client).id());
        }
    }

    private static void awaitLogged(Member member, String text) {
        Awaitility.await(text).atMost(PATIENCE).until(() -> member.log().contains(text));
    }

    /** On a follower it does nothing but a warning. */
    @Test
    void theClockOfAFollowerIsAYearAhead() throws Exception {
        Duration longerThanTheStart = Duration.ofMinutes(2); // of three processes on a busy machine
        try (Ensemble ensemble = servers()
                        .with("maxSessionTimeout", (int) longerThanTheStart.toMillis())
                        .start();
                Coordinator client = connect(ensemble.connectString(), longerThanTheStart)) {
            long session = RecipeAccess.session(client).id();
            write(client, 0);
            Member leader = ensemble.awaitAllServing();
            Member wrong = ensemble.others(leader).get(0);
            wrong.terminate();
            wrong.clockAhead(YEAR);
            wrong.start();
            ensemble.awaitAllServing();
            Awaitility.await("the warning")
                    .atMost(PATIENCE)
                    .until(() -> ensemble.awaitLeader().log().contains("The wall clock of member " + wrong.number()));
            assertFalse(isAhead(client), "the leader's clock counts");
            assertEquals(session, RecipeAccess.session(client).id());
        }
    }

    /** On the leader the times of changes are wrong, and stay: but sessions live on, and no write is lost. */
    @Test
    void theClockOfTheLeaderIsAYearAhead() throws Exception {
        Duration longerThanTheStart = Duration.ofMinutes(2); // of three processes on a busy machine
        try (Ensemble ensemble = servers()
                        .with("maxSessionTimeout", (int) longerThanTheStart.toMillis())
                        .start();
                Coordinator client = connect(ensemble.connectString(), longerThanTheStart)) {
            long session = RecipeAccess.session(client).id();
            client.execute(Create.of(EPHEMERAL).withMode(CreateMode.EPHEMERAL));
            write(client, 0);
            Member wrong = ensemble.awaitAllServing();
            setClock(ensemble, wrong, YEAR);
            for (int i = 0; i < MOST_ELECTIONS && ensemble.awaitLeader() != wrong; i++) {
                setClock(ensemble, ensemble.awaitLeader(), Duration.ZERO); // hands over to one of the two others
            }
            assertEquals(wrong, ensemble.awaitLeader());
            write(client, WRITES);
            assertTrue(isAhead(client));

            setClock(ensemble, wrong, Duration.ZERO);
            assertTrue(isAhead(client), "times never decrease");
            assertEquals(session, RecipeAccess.session(client).id());
            assertEquals(0, client.execute(GetData.of(EPHEMERAL)).data().length);
            assertAllThere(ensemble, wrong, 2 * WRITES);
        }
    }

    private static void setClock(Ensemble ensemble, Member member, Duration ahead) throws InterruptedException {
        member.terminate();
        member.clockAhead(ahead);
        member.start();
        ensemble.awaitAllServing();
    }

    /** Whether a change that is made now gets a time that is months from now. */
    private static boolean isAhead(Coordinator client) throws InterruptedException {
        long mtime = client.execute(SetData.of(node(0), StoreClient.bytes(0))).mtimeMs();
        return mtime - System.currentTimeMillis() > YEAR.dividedBy(2).toMillis();
    }
}
