package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import io.conclave.proofs.ensemble.Member.Mode;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Servers join, get a vote, and leave by the operator's commands while a client writes, to which nothing fails. It
 * prints how long things took.
 */
class MembershipIT {
    private static final int LOAD = 4;
    private static final NodePath ROOT = NodePath.of("/members");
    private static final NodePath LAST = NodePath.of("/last");
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SEVERAL_ELECTIONS = Duration.ofSeconds(5);

    @TempDir
    private Path home;

    @Test
    @Timeout(300)
    void aMemberJoinsFromASnapshotAsAnObserverIsPromotedAndAnotherOneLeavesForGood() throws Exception {
        try (Ensemble ensemble = Ensemble.of(EnsembleKind.CONCLAVE, home)
                .spares(1)
                .ticks(500, 40, 10)
                .with("snapCount", 1000)
                .withSmallJvms()
                .start()) {
            Member leader = ensemble.awaitAllServing();
            Member asked = ensemble.others(leader).get(0); // not the leader: any server passes it on
            Member leaving = ensemble.others(leader).get(1);
            Member joining = ensemble.spares().get(0);
            try (Coordinator client = connect(ensemble.connectString(asked))) {
                client.execute(Create.of(ROOT));
                client.execute(Create.of(LAST));
                // more than a leader keeps in memory, so that it takes a snapshot to join
                assertEquals(
                        0,
                        Pipeline.run(client, 50, 1500, i -> Create.of(ROOT.child("n" + i))
                                        .withData(new byte[8000]))
                                .failures());

                AtomicBoolean loads = new AtomicBoolean(true);
                AtomicLong written = new AtomicLong();
                CompletableFuture<Pipeline.Result> load = Pipeline.begin(
                        client, LOAD, i -> SetData.of(LAST, StoreClient.bytes(written.incrementAndGet())), loads::get);

                long startNanos = System.nanoTime();
                joining.start();
                asked.command("add", joining.line("observer"));
                awaitMembers(client, members -> members.contains(4) && !members.votes(4));
                awaitCaughtUp(ensemble, joining, written);
                long joinedMs = millisSince(startNanos);
                assertEquals(Mode.OBSERVER, joining.mode());
                assertTrue(joining.log().contains("installing a snapshot"), joining::log);

                startNanos = System.nanoTime();
                asked.command("promote", "4");
                awaitMembers(client, members -> members.votes(4) && members.voters() == 4);
                long promotedMs = millisSince(startNanos);

                startNanos = System.nanoTime();
                asked.command("remove", Integer.toString(leaving.number()));
                awaitMembers(client, members -> !members.contains(leaving.number()) && members.voters() == 3);
                long removedMs = millisSince(startNanos);

                loads.set(false);
                Pipeline.Result result = load.join();
                System.out.println(String.format(
                        Locale.ROOT,
                        "%s: joined as observer from a snapshot in %d ms, start of the process included, promoted in "
                                + "%d ms, another one removed in %d ms, start of the command included each time; %d "
                                + "writes meanwhile, p50 %.2f ms, p99 %.2f ms, longest %.0f ms, %d failures, %d "
                                + "changes of leader",
                        ensemble,
                        joinedMs,
                        promotedMs,
                        removedMs,
                        result.sortedNanos().length,
                        result.percentileMs(0.5),
                        result.percentileMs(0.99),
                        result.percentileMs(1),
                        result.failures(),
                        ensemble.elections() - 1));
                assertEquals(0, result.failures());

                // a removed member stays so under every leader: a new leader's configuration file still names it
                leader.kill();
                Awaitility.await("the three that are left without one of them")
                        .atMost(PATIENCE)
                        .until(() -> asked.mode() == Mode.LEADER || joining.mode() == Mode.LEADER);
                client.execute(SetData.of(LAST, StoreClient.bytes(written.incrementAndGet())));
                Awaitility.await("the removed one to stay away")
                        .during(SEVERAL_ELECTIONS)
                        .atMost(PATIENCE)
                        .until(() -> !Members.in(client).contains(leaving.number()));
                assertEquals(Mode.NOT_SERVING, leaving.mode());
            }
        }
    }

    @Test
    @Timeout(300)
    void aMemberIsReplacedByOneAtAnotherAddress() throws Exception {
        try (Ensemble ensemble = Ensemble.of(EnsembleKind.CONCLAVE, home)
                        .spares(1)
                        .ticks(500, 40, 10)
                        .withSmallJvms()
                        .start();
                Coordinator client = connect(ensemble.connectString(ensemble.awaitAllServing()))) {
            Member leader = ensemble.awaitAllServing();
            Member old = ensemble.others(leader).get(0);
            Member joining = ensemble.spares().get(0);
            client.execute(Create.of(LAST));
            AtomicBoolean loads = new AtomicBoolean(true);
            AtomicLong written = new AtomicLong();
            CompletableFuture<Pipeline.Result> load = Pipeline.begin(
                    client, LOAD, i -> SetData.of(LAST, StoreClient.bytes(written.incrementAndGet())), loads::get);

            joining.start();
            leader.command("add", joining.line("participant"));
            awaitMembers(client, members -> members.voters() == 4);
            old.kill();
            leader.command("remove", Integer.toString(old.number()));
            awaitMembers(client, members -> members.voters() == 3 && members.votes(4));
            awaitCaughtUp(ensemble, joining, written);

            // the number of the one that went is free for a new server elsewhere; its old disk is gone with it
            old.wipe();
            old.start();
            leader.command("add", old.line("observer"));
            leader.command("replace", old.line("participant"));
            awaitMembers(client, members -> members.voters() == 4 && members.votes(old.number()));
            awaitCaughtUp(ensemble, old, written);
            assertTrue(
                    leader.command("members").contains(old.line("participant").split(":")[0]));

            loads.set(false);
            Pipeline.Result result = load.join();
            System.out.println(String.format(
                    Locale.ROOT,
                    "%s: one replaced by another, and by itself at the same number; %d writes meanwhile, p50 %.2f ms, "
                            + "p99 %.2f ms, longest %.0f ms, %d failures",
                    ensemble,
                    result.sortedNanos().length,
                    result.percentileMs(0.5),
                    result.percentileMs(0.99),
                    result.percentileMs(1),
                    result.failures()));
            assertEquals(0, result.failures());
        }
    }

    private static void awaitMembers(Coordinator client, Predicate<Members> condition) {
        Awaitility.await("a change of members").atMost(PATIENCE).until(() -> condition.test(Members.in(client)));
    }

    /** Returns when a client of this member alone reads what was written when it had connected. */
    private static void awaitCaughtUp(Ensemble ensemble, Member member, AtomicLong written)
            throws InterruptedException {
        try (Coordinator one = connect(ensemble.connectString(member))) {
            long atLeast = written.get() - LOAD;
            one.execute(Sync.of(LAST));
            long found = StoreClient.valueOf(one.execute(GetData.of(LAST)).data());
            assertTrue(found >= atLeast, () -> found + " read, " + atLeast + " were acknowledged before");
        }
    }

    private static long millisSince(long startNanos) {
        return (System.nanoTime() - startNanos) / 1_000_000;
    }

    private static Coordinator connect(String connectString) {
        return Coordinator.builder(connectString)
                .sessionTimeout(Duration.ofSeconds(20))
                .connectTimeout(PATIENCE)
                .connect();
    }
}
