package io.conclave.proofs.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.grant.FencingToken;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Sync;
import io.conclave.session.SessionState;
import io.conclave.testkit.proxy.FaultProxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The server is killed again and again while clients write. {@code -Dkill.rounds=50} makes it long, {@code -Dkill.seed}
 * repeats the moments of a run. This says nothing of fsync, since the page cache outlives the process: that is for the
 * simulated disk.
 */
class KillLoopIT {
    private static final int ROUNDS = Integer.getInteger("kill.rounds", 8);
    private static final long SEED = Long.getLong("kill.seed", System.nanoTime());
    private static final int WRITERS = 3;
    private static final NodePath BYE = NodePath.of("/bye");

    @TempDir
    private Path home;

    private final Ledger ledger = new Ledger();
    private final List<LoadWriter> writers = new ArrayList<>();
    private final List<FencingToken> tokens = new ArrayList<>();

    @Test
    void acknowledgedWritesSurviveKillMinusNine() throws Exception {
        runRounds(ROUNDS, ServerProcess::kill);
    }

    @Test
    void acknowledgedWritesSurviveAnOrderlyStop() throws Exception {
        runRounds(Math.max(3, ROUNDS / 10), server -> {
            int status = server.terminate();
            assertTrue(status == 0 || status == 128 + 15, () -> "exit status " + status + "\n" + server.log());
        });
    }

    /** How the server is brought down. */
    private interface End {
        void of(ServerProcess server) throws InterruptedException;
    }

    private void runRounds(int rounds, End end) throws Exception {
        System.out.println("kill loop: " + rounds + " rounds, -Dkill.seed=" + SEED);
        Random random = new Random(SEED);
        // snapshots and purges happen while the server is being killed
        try (ServerProcess server =
                        ServerProcess.in(home).with("snapCount", 2000).start();
                Coordinator judge = Coordinator.builder(server.connectString())
                        .sessionTimeout(Duration.ofSeconds(30))
                        .connect()) {
            judge.execute(Create.of(LoadWriter.SEQUENCE));
            for (int i = 0; i < WRITERS; i++) {
                writers.add(new LoadWriter("w" + i, server.connectString(), ledger));
            }
            DistributedLock lock = DistributedLock.at(judge, "/locks/kill-loop");
            for (int round = 1; round <= rounds; round++) {
                round(server, judge, lock, end, 1 + random.nextInt(600));
                assertEquals(List.of(), ledger.violations(), "round " + round + ", seed " + SEED);
            }
            finish(judge);
        } finally {
            writers.forEach(LoadWriter::close);
        }
        assertEquals(List.of(), ledger.violations());
        System.out.println("kill loop: " + rounds + " rounds, " + ledger.writes() + " acknowledged writes, "
                + tokens.size() + " tokens, 0 violations");
    }

    private void round(ServerProcess server, Coordinator judge, DistributedLock lock, End end, int loadMs)
            throws Exception {
        leaveAnEphemeralOfAClosedSession(server);
        LockGrant held = lock.acquire(Duration.ofSeconds(30));
        remember(held);
        awaitWrites(loadMs);

        end.of(server);
        ledger.serverEnded();
        writers.forEach(LoadWriter::serverEnded);
        Map<String, Long> mustBeThere = ledger.created();
        server.start();

        for (LoadWriter writer : writers) {
            writer.check();
        }
        checkCreated(judge, mustBeThere);
        if (judge.execute(Exists.of(BYE)).isPresent()) {
            ledger.violated(BYE + " outlived its closed session");
        }
        if (!held.isHeld()) {
            ledger.violated("a grant was lost although its session went on: " + held.token());
        }
        held.close();
        try (LockGrant next = lock.acquire(Duration.ofSeconds(30))) {
            remember(next);
        }
    }

    private void leaveAnEphemeralOfAClosedSession(ServerProcess server) throws InterruptedException {
        try (Coordinator guest = Coordinator.connect(server.connectString())) {
            guest.execute(Create.of(BYE).withMode(CreateMode.EPHEMERAL));
        }
    }

    private void remember(LockGrant grant) {
        FencingToken token = grant.token();
        if (!tokens.isEmpty() && token.compareTo(tokens.get(tokens.size() - 1)) <= 0) {
            ledger.violated("token " + token + " after " + tokens.get(tokens.size() - 1));
        }
        tokens.add(token);
    }

    /** Lets the load run: a number of writes that stands for a time, so that nothing here sleeps. */
    private void awaitWrites(int count) {
        long until = ledger.writes() + count;
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(2))
                .until(() -> ledger.writes() >= until);
    }

    /**
     * Every acknowledged znode is there, and is the one that was acknowledged; then those of earlier rounds make room.
     */
    private void checkCreated(Coordinator judge, Map<String, Long> mustBeThere) throws InterruptedException {
        Set<String> found =
                new HashSet<>(judge.execute(GetChildren.of(LoadWriter.SEQUENCE)).names());
        List<CompletableFuture<?>> reads = new ArrayList<>();
        mustBeThere.forEach((path, czxid) -> {
            if (!found.contains(path.substring(path.lastIndexOf('/') + 1))) {
                ledger.violated(path + " was acknowledged and is gone");
                return;
            }
            ledger.forget(path);
            reads.add(judge.submit(GetData.of(NodePath.of(path)))
                    .thenAccept(node -> checkSame(path, czxid, node.stat().czxid()))
                    .thenCompose(done -> judge.submit(Delete.of(NodePath.of(path))))
                    .toCompletableFuture());
        });
        CompletableFuture.allOf(reads.toArray(CompletableFuture[]::new)).join();
    }

    private void checkSame(String path, long acknowledged, long found) {
        if (acknowledged != found) {
            ledger.violated(path + " was created by " + Long.toHexString(acknowledged) + " and is now of "
                    + Long.toHexString(found));
        }
    }

    /** At the end the writers close their sessions, and their ephemerals go with them; nothing else is left. */
    private void finish(Coordinator judge) throws InterruptedException {
        for (LoadWriter writer : writers) {
            writer.stop();
            writer.check();
            NodePath ephemeral = writer.ephemeral();
            writer.close();
            judge.execute(Sync.of(ephemeral));
            if (judge.execute(Exists.of(ephemeral)).isPresent()) {
                ledger.violated(ephemeral + " outlived its closed session");
            }
        }
        checkCreated(judge, ledger.created());
    }

    @Test
    void anEphemeralSurvivesARestartAndIsDeletedWhenItsSessionExpires() throws Exception {
        NodePath path = NodePath.of("/abandoned");
        Duration timeout = Duration.ofSeconds(6);
        try (ServerProcess server = ServerProcess.in(home).with("tickTime", 500).start();
                FaultProxy proxy = FaultProxy.to("127.0.0.1", server.port());
                Coordinator judge = Coordinator.connect(server.connectString());
                Coordinator abandoned = Coordinator.builder("conclave://127.0.0.1:" + proxy.port())
                        .sessionTimeout(timeout)
                        .connect()) {
            abandoned.execute(Create.of(path).withMode(CreateMode.EPHEMERAL));
            proxy.isolate();
            server.kill();
            long startedNanos = System.nanoTime();
            server.start();
            assertTrue(judge.execute(Exists.of(path)).isPresent(), "a session gets its full timeout after a restart");
            Awaitility.await()
                    .atMost(timeout.multipliedBy(2))
                    .pollInterval(Duration.ofMillis(50))
                    .until(() -> judge.execute(Exists.of(path)).isEmpty());
            Duration lived = Duration.ofNanos(System.nanoTime() - startedNanos);
            assertTrue(lived.compareTo(timeout) >= 0, () -> "it lived for " + lived + " only");
            Awaitility.await().until(() -> abandoned.state() == SessionState.LOST);
        }
    }
}
