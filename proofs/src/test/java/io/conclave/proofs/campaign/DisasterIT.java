package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleBuilder;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import io.conclave.proofs.faults.SmallDisk;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import io.conclave.session.SessionState;
import io.conclave.testkit.tls.CertificateAuthority;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
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
    private static final Duration LONGER_THAN_THE_STARTS = Duration.ofMinutes(2); // of processes on a busy machine
    private static final int DISK_MB = 48;
    private static final NodePath EPHEMERAL = NodePath.of("/ephemeral");
    private static final NodePath DATA = NodePath.of("/data");

    @TempDir
    private Path home;

    /** What may be there of the writes of the test with full disks: the last that was acknowledged, or is not known. */
    private final Set<Integer> possible = new HashSet<>();

    private int tried;

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

    /** No certificates are at hand: members go without TLS, and back to it by the three steps of operations.md. */
    @Test
    void theCertificatesHaveExpiredAndMembersGoWithoutTls() throws Exception {
        CertificateAuthority authority = new CertificateAuthority("CN=our authority");
        Path own = authority.issueExpired("CN=too late", "127.0.0.1").writePem(home.resolve("own.pem"));
        try (Ensemble ensemble = servers()
                .with("maxSessionTimeout", (int) LONGER_THAN_THE_STARTS.toMillis())
                .with("ssl.quorum.keyStore.location", own)
                .with("ssl.quorum.trustStore.location", authority.writePem(home.resolve("trust.pem")))
                .with("sslQuorum", true)
                .prepare()) {
            ensemble.members().forEach(Member::start);
            for (Member member : ensemble.members()) {
                awaitLogged(member, "the certificate CN=too late (issued by CN=our authority");
            }
            assertEquals(Optional.empty(), ensemble.leader());

            for (Member member : ensemble.members()) {
                member.configure("sslQuorum", false);
                member.terminate();
            }
            ensemble.members().forEach(Member::start);
            ensemble.awaitAllServing();
            try (Coordinator client = connect(ensemble.connectString(), LONGER_THAN_THE_STARTS)) {
                long session = RecipeAccess.session(client).id();
                write(client, 0);

                authority.issue("CN=renewed", "127.0.0.1").writePem(own);
                restartEach(ensemble, false, true);
                restartEach(ensemble, true, true);
                restartEach(ensemble, true, false);
                write(client, WRITES);
                assertEquals(session, RecipeAccess.session(client).id());
            }
            for (Member member : ensemble.members()) {
                assertAllThere(ensemble, member, 2 * WRITES);
                assertTrue(linkedLines(member).allMatch(line -> line.contains("with TLS")), member::log);
            }
        }
    }

    private static void restartEach(Ensemble ensemble, boolean sslQuorum, boolean portUnification) throws Exception {
        for (Member member : ensemble.members()) {
            member.configure("sslQuorum", sslQuorum);
            member.configure("portUnification", portUnification);
            member.terminate();
            member.start();
            Awaitility.await("what status asks").atMost(PATIENCE).until(() -> member.mode() != Member.Mode.NOT_SERVING);
        }
    }

    private static Stream<String> linkedLines(Member member) {
        return member.log().lines().filter(line -> line.contains(" is linked at "));
    }

    /** First that of the leader, then all. */
    @Test
    void disksAreFull() throws Exception {
        List<SmallDisk> disks = new ArrayList<>();
        try {
            for (int number = 1; number <= 3; number++) {
                disks.add(SmallDisk.mount(EnsembleBuilder.dataOf(home, number), DISK_MB));
            }
            try (Ensemble ensemble = Ensemble.of(EnsembleKind.CONCLAVE, home)
                    .with("preAllocSize", 8192)
                    .withSmallJvms()
                    .start()) {
                walkFullDisks(ensemble, disks);
            }
        } finally {
            for (SmallDisk disk : disks) {
                disk.close();
            }
        }
    }

    private void walkFullDisks(Ensemble ensemble, List<SmallDisk> disks) throws Exception {
        Member full = ensemble.awaitAllServing();
        List<Member> others = ensemble.others(full);
        try (Coordinator client = connect(ensemble.connectString(others.get(0)))) {
            long session = RecipeAccess.session(client).id();
            client.execute(Create.of(DATA));
            disks.get(full.number() - 1).fill();
            Awaitility.await("leadership goes to one with room")
                    .atMost(PATIENCE)
                    .until(() -> {
                        writeLarge(client);
                        return ensemble.leader().filter(others::contains).isPresent();
                    });
            Awaitility.await("the one without sends its clients to the others, and says why")
                    .atMost(PATIENCE)
                    .until(() -> full.mode() == Member.Mode.NOT_SERVING && disk(full) == 2);
            awaitWritten(client);

            for (SmallDisk disk : disks) {
                disk.fill();
            }
            Awaitility.await("a refusal").atMost(PATIENCE).until(() -> isRefused(client));
            for (Member member : others) {
                Awaitility.await(member + " says so").atMost(PATIENCE).until(() -> disk(member) > 0);
            }
            assertNothingIsLost(client);

            for (SmallDisk disk : disks) {
                disk.makeRoom();
            }
            awaitWritten(client);
            ensemble.awaitAllServing();
            for (Member member : ensemble.members()) {
                Awaitility.await(member + " has room").atMost(PATIENCE).until(() -> disk(member) == 0);
                try (Coordinator each = connect(ensemble.connectString(member))) {
                    each.execute(Sync.of(DATA));
                    assertNothingIsLost(each);
                }
            }
            assertEquals(session, RecipeAccess.session(client).id());
        }
    }

    /** What mntr says of it; -1 if there is no answer. */
    private static int disk(Member member) {
        return member.ask("mntr")
                .orElse("")
                .lines()
                .filter(line -> line.startsWith("zk_conclave_disk\t"))
                .map(line -> Integer.parseInt(line.split("\t")[1]))
                .findFirst()
                .orElse(-1);
    }

    /** Whether it was done. */
    private boolean writeLarge(Coordinator client) throws InterruptedException {
        tried++;
        try {
            client.execute(SetData.of(DATA, large(tried)));
            possible.clear();
            possible.add(tried);
            return true;
        } catch (RefusedException e) {
            assertEquals(RefusalReason.NOT_WRITABLE, e.reason(), e::toString);
            return false;
        } catch (OutcomeUnknownException e) {
            possible.add(tried);
            return false;
        }
    }

    private void assertNothingIsLost(Coordinator client) throws InterruptedException {
        byte[] data = client.execute(GetData.of(DATA)).data();
        int number = ByteBuffer.wrap(data).getInt();
        assertTrue(possible.contains(number), () -> number + " is there, and one of " + possible + " is due");
        assertArrayEquals(large(number), data);
    }

    private void awaitWritten(Coordinator client) {
        Awaitility.await("a write").atMost(PATIENCE).until(() -> writeLarge(client));
    }

    private boolean isRefused(Coordinator client) throws InterruptedException {
        int before = possible.size();
        return !writeLarge(client) && possible.size() == before;
    }

    private static byte[] large(int number) {
        return ByteBuffer.allocate(500_000).putInt(number).array();
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
