package io.conclave.proofs.failover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.proofs.campaign.Pipeline;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleBuilder;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import io.conclave.proofs.ensemble.Member.Mode;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongFunction;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The leader's disk hangs for five seconds and a majority is well: there is one change of leader at most, clients of
 * the others write on, and the one that hung comes back as a follower and stays it. It prints the longest gap that
 * clients saw.
 */
class StalledDiskIT {
    private static final Duration STALL = Duration.ofSeconds(5);
    private static final Duration CALM = Duration.ofSeconds(Integer.getInteger("stall.calmSeconds", 3));
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int DISK_MB = 512;
    private static final int WRITES_BEFORE = 100;

    @TempDir
    private Path home;

    private final List<FreezableDisk> disks = new ArrayList<>();
    private Ensemble ensemble;

    /** What else goes on around the stall. */
    private interface Step {
        void take() throws Exception;
    }

    @Test
    @Timeout(300)
    void theOthersGoOnAndNothingFlaps() throws Exception {
        start(3);
        stallTheLeader("nothing else", () -> {}, () -> {});
    }

    @Test
    @Timeout(300)
    void theSameWhileTenThousandWatchesFire() throws Exception {
        start(3);
        int watchers = 10;
        int nodes = 1000;
        Member leader = ensemble.awaitAllServing();
        AtomicInteger fired = new AtomicInteger();
        List<Coordinator> clients = new ArrayList<>();
        try {
            for (int i = 0; i < watchers; i++) {
                clients.add(connect(ensemble.others(leader).get(i % 2)));
            }
            NodePath root = NodePath.of("/watched");
            clients.get(0).execute(Create.of(root));
            run(clients.get(0), nodes, i -> Create.of(root.child("n" + i)));
            for (Coordinator client : clients) {
                run(client, nodes, i -> GetData.of(root.child("n" + i)).withWatcher(event -> fired.incrementAndGet()));
            }
            AtomicInteger next = new AtomicInteger();
            stallTheLeader(watchers * nodes + " watches firing", () -> {}, () -> {
                CompletableFuture<Pipeline.Result> changes = Pipeline.begin(
                        clients.get(0),
                        50,
                        i -> SetData.of(root.child("n" + i), new byte[8]),
                        () -> next.getAndIncrement() < nodes);
                assertEquals(0, changes.join().failures());
                Awaitility.await("all watches to fire").atMost(PATIENCE).until(() -> fired.get() >= watchers * nodes);
            });
            assertEquals(watchers * nodes, fired.get());
        } finally {
            clients.forEach(Coordinator::close);
        }
    }

    /** Five, so that a majority is well beside the one whose disk hangs and the one that is behind. */
    @Test
    @Timeout(300)
    void theSameWhileASnapshotIsInstalled() throws Exception {
        start(5);
        Member leader = ensemble.awaitAllServing();
        Member behind = ensemble.others(leader).get(0);
        behind.kill();
        behind.wipe(); // one with a log would be sent what it lacks from the leader's files
        NodePath root = NodePath.of("/many");
        try (Coordinator client = connect(ensemble.others(leader).get(1))) {
            client.execute(Create.of(root));
            run(client, 2500, i -> Create.of(root.child("n" + i)).withData(new byte[8000]));
        }
        Step snapshot = () -> {
            behind.start();
            Awaitility.await("a snapshot on its way")
                    .pollInterval(Duration.ofMillis(5))
                    .atMost(PATIENCE)
                    .until(() -> behind.log().contains("receiving a snapshot"));
        };
        stallTheLeader("a snapshot being installed", snapshot, () -> {});
        assertTrue(behind.log().contains("installing a snapshot"), behind::log);
    }

    private void start(int servers) throws IOException, InterruptedException {
        for (int number = 1; number <= servers; number++) {
            disks.add(FreezableDisk.mount(EnsembleBuilder.dataOf(home, number), DISK_MB));
        }
        ensemble = Ensemble.of(EnsembleKind.CONCLAVE, home)
                .servers(servers)
                .ticks(500, 20, 30)
                .withSmallJvms()
                .start();
    }

    private void stallTheLeader(String what, Step before, Step meanwhile) throws Exception {
        Member leader = ensemble.awaitLeader();
        FreezableDisk disk = disks.get(leader.number() - 1);
        List<GapClient> clients = new ArrayList<>();
        List<GapClient> all = new ArrayList<>();
        try {
            for (Member member : ensemble.others(leader)) {
                if (member.mode() == Mode.FOLLOWER) {
                    clients.add(client(member, all));
                }
            }
            GapClient onLeader = client(leader, all);
            awaitWrites(all, WRITES_BEFORE);
            long elections = ensemble.elections();
            before.take();
            all.forEach(GapClient::mark);
            long startNanos = System.nanoTime();
            disk.freeze();
            try {
                meanwhile.take();
                Awaitility.await().atMost(PATIENCE).until(() -> System.nanoTime() - startNanos > STALL.toNanos());
            } finally {
                disk.thaw();
            }
            Duration stalled = Duration.ofNanos(System.nanoTime() - startNanos);
            Member next = ensemble.awaitAllServing();
            double longestMs =
                    clients.stream().mapToDouble(GapClient::longestGapMs).max().orElseThrow();
            int disconnects = clients.stream().mapToInt(GapClient::disconnects).sum();
            Awaitility.await("calm").during(CALM).atMost(CALM.plus(PATIENCE)).until(() -> true);
            all.forEach(GapClient::writes); // throws if a session was lost
            System.out.println(String.format(
                    Locale.ROOT,
                    "%s, the leader's disk stalled for %d ms, with %s: %d changes of leader; clients of the others saw "
                            + "%d disconnects and a gap of %.0f ms at most, the leader's own client a gap of %.0f ms",
                    ensemble,
                    stalled.toMillis(),
                    what,
                    ensemble.elections() - elections,
                    disconnects,
                    longestMs,
                    onLeader.longestGapMs()));
            assertTrue(ensemble.elections() - elections <= 1, ensemble::describe);
            assertEquals(next, ensemble.awaitAllServing());
            if (next != leader) {
                assertEquals(Mode.FOLLOWER, leader.mode());
            }
            assertTrue(longestMs < STALL.toMillis(), "no client wrote while the disk hung");
        } finally {
            all.forEach(GapClient::close);
        }
    }

    private GapClient client(Member member, List<GapClient> all) {
        GapClient client = new GapClient(ensemble, member, "gap-" + member.number());
        all.add(client);
        return client;
    }

    private static void awaitWrites(List<GapClient> clients, int count) {
        clients.forEach(GapClient::mark);
        Awaitility.await("writes of all clients").atMost(PATIENCE).until(() -> clients.stream()
                .allMatch(client -> client.writes() >= count));
    }

    private static void run(Coordinator client, int count, LongFunction<Request<?>> requests) {
        assertEquals(0, Pipeline.run(client, 50, count, requests).failures());
    }

    private Coordinator connect(Member member) {
        return Coordinator.builder(ensemble.connectString(member))
                .sessionTimeout(Duration.ofSeconds(20))
                .connectTimeout(PATIENCE)
                .connect();
    }

    @AfterEach
    void end() throws Exception {
        for (FreezableDisk disk : disks) {
            disk.thaw();
        }
        if (ensemble != null) {
            ensemble.close();
        }
        for (FreezableDisk disk : disks) {
            disk.close();
        }
    }
}
