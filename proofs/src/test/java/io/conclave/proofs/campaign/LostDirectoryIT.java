package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import io.conclave.proofs.ensemble.Member.Mode;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.Sync;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server comes back without what it had on disk, or with that of another cluster. */
class LostDirectoryIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SEVERAL_ELECTIONS = Duration.ofSeconds(5);
    private static final Duration POLL = Duration.ofMillis(20);
    private static final int WRITES = 200;

    @TempDir
    private Path home;

    /**
     * Two of three have acknowledged writes. One of these loses its disk, the other stops; a vote of the former for the
     * third, which has never seen the writes, would lose them.
     */
    @Test
    @Timeout(300)
    void aWipedVoterDoesNotVoteBeforeTheOthersHaveTakenItInAgain() throws Exception {
        try (Ensemble ensemble = start()) {
            Member full = ensemble.awaitAllServing();
            Member late = ensemble.others(full).get(0);
            Member wiped = ensemble.others(full).get(1);
            late.kill();
            write(ensemble, 0, WRITES);

            wiped.kill();
            wiped.wipe();
            wiped.start();
            assertNobodyLeads(ensemble, "the wiped one is no majority with the one that led");

            full.kill();
            late.start();
            assertNobodyLeads(ensemble, "the wiped one is no majority with the one that lacks what was acknowledged");

            full.start();
            ensemble.awaitAllServing();
            awaitVoters(ensemble, 3);
            assertTrue(wiped.log().contains("has an empty directory and waits"), wiped::log);
            assertAllThere(ensemble, wiped, WRITES);

            full.kill(); // so that it takes the vote of the one that was wiped
            ensemble.awaitLeader();
            write(ensemble, WRITES, 2 * WRITES);
            assertAllThere(ensemble, wiped, 2 * WRITES);
        }
    }

    @Test
    @Timeout(300)
    void aServerOfAnotherClusterIsRefusedAndTheOthersGoOn() throws Exception {
        try (Ensemble ensemble = start()) {
            Member stranger = ensemble.others(ensemble.awaitAllServing()).get(1);
            write(ensemble, 0, WRITES);
            stranger.kill();
            stranger.wipe();
            IllegalStateException refused = assertThrows(IllegalStateException.class, () -> stranger.command("init"));
            assertTrue(String.valueOf(refused.getMessage()).contains("belongs to cluster"), refused::getMessage);
            makeAnotherCluster(ensemble, stranger);
            Member leader = ensemble.awaitLeader();
            Member other = ensemble.others(leader).stream()
                    .filter(member -> member != stranger)
                    .findFirst()
                    .orElseThrow();
            long followersElections = electionsOf(other);
            long elections = electionsOf(leader);

            stranger.start();
            Awaitility.await().atMost(PATIENCE).until(() -> ensemble.members().stream()
                    .allMatch(member -> member.log().contains("belongs to cluster")));
            try (Coordinator client = connect(ensemble.connectString(other))) {
                write(client, WRITES, 2 * WRITES);
            }
            assertEquals(Mode.LEADER, leader.mode());
            assertEquals(elections, electionsOf(leader));
            assertEquals(followersElections, electionsOf(other));

            stranger.kill();
            stranger.wipe();
            startWhileAClientAsks(stranger, ensemble);
            ensemble.awaitAllServing();
            assertAllThere(ensemble, stranger, 2 * WRITES);
        }
    }

    /** While the other servers are away, no server says that there is a cluster already. */
    private static void makeAnotherCluster(Ensemble ensemble, Member stranger) throws InterruptedException {
        List<Member> others = ensemble.others(stranger);
        for (Member other : others) {
            other.kill();
        }
        stranger.command("init");
        others.forEach(Member::start);
    }

    private static long electionsOf(Member member) {
        return member.log()
                .lines()
                .filter(line -> line.contains("Leading in term"))
                .count();
    }

    private Ensemble start() {
        return Ensemble.of(EnsembleKind.CONCLAVE, home)
                .ticks(500, 20, 4)
                .withSmallJvms()
                .start();
    }

    private static void assertNobodyLeads(Ensemble ensemble, String why) {
        Awaitility.await(why).during(SEVERAL_ELECTIONS).atMost(PATIENCE).until(() -> ensemble.members().stream()
                .noneMatch(member -> member.mode() == Mode.LEADER));
    }

    /** Waits until all members list so many as voters, as ZooKeeper's tools would see it. */
    private static void awaitVoters(Ensemble ensemble, int count) throws InterruptedException {
        try (Coordinator client = connect(ensemble.connectString())) {
            Awaitility.await(count + " voters")
                    .atMost(PATIENCE)
                    .until(() -> Members.in(client).voters() == count);
        }
    }

    /** Starts a wiped voter; a client that asks all the time must not keep the leader from taking it in again. */
    private static void startWhileAClientAsks(Member wiped, Ensemble ensemble) throws InterruptedException {
        try (Coordinator client = connect(ensemble.connectString())) {
            wiped.start();
            Awaitility.await("its vote in the directory that it has now")
                    .atMost(PATIENCE)
                    .pollInterval(POLL)
                    .until(() -> Members.in(client).voters() == 3 && wiped.mode() == Mode.FOLLOWER);
        }
    }

    private static void write(Ensemble ensemble, int from, int to) throws InterruptedException {
        try (Coordinator client = connect(ensemble.connectString())) {
            write(client, from, to);
        }
    }

    private static void write(Coordinator client, int from, int to) throws InterruptedException {
        for (int i = from; i < to; i++) {
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

    private static NodePath node(int number) {
        return NodePath.of("/n" + number);
    }

    private static Coordinator connect(String connectString) {
        return Coordinator.builder(connectString)
                .sessionTimeout(Duration.ofSeconds(10))
                .connectTimeout(PATIENCE)
                .connect();
    }
}
