package io.conclave.proofs.failover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.proofs.campaign.Pipeline;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A session with 100,000 ephemerals ends, which is one step on every server. Clients of all servers write on, none
 * loses its session, and no member stands for election. The step is measured by the processor time of the thread that
 * sends the heartbeats, less what the clients' writes take, since that is the same on a busy machine. It prints the
 * longest gap, and how many clients were disconnected, which a busy machine does, too.
 */
class LargeSessionEndIT {
    private static final int EPHEMERALS = 100_000;

    /**
     * A busy machine delays some heartbeats by more than the default of 1 s. With 500, half of it, this measures on a
     * quiet one what is not processor time, too: collections of garbage, disks, locks.
     */
    private static final int ELECTION_TIMEOUT_MS = Integer.getInteger("largeSession.electionTimeoutMs", 5000);

    /** Half of the default: for no longer may a step keep the thread from its heartbeats. */
    private static final double MAX_STEP_MS = 500;

    private static final String THREAD = "conclave-log";

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path home;

    @Test
    @Timeout(300)
    void theEndOfALargeSessionDelaysNoHeartbeatOfOthers() throws Exception {
        try (Ensemble ensemble = Ensemble.of(EnsembleKind.CONCLAVE, home)
                .servers(3)
                .ticks(500, 20, 30)
                .with("electionTimeoutMs", ELECTION_TIMEOUT_MS)
                .start()) {
            Member leader = ensemble.awaitAllServing();
            NodePath group = NodePath.of("/group");
            List<GapClient> clients = new ArrayList<>();
            Coordinator large = connect(ensemble, ensemble.others(leader).get(0));
            try (Coordinator other = connect(ensemble, leader)) {
                other.execute(Create.of(group));
                fill(large, group);
                for (Member member : ensemble.members()) {
                    clients.add(new GapClient(ensemble, member, "gap-" + member.number()));
                }
                awaitWrites(clients);
                Measured usual = Measured.during(ensemble, clients, () -> {});
                long elections = ensemble.elections();
                Measured end = Measured.during(ensemble, clients, () -> {
                    large.close();
                    Awaitility.await("the ephemerals to go")
                            .atMost(PATIENCE)
                            .until(() -> other.execute(Exists.of(group))
                                            .orElseThrow()
                                            .numChildren()
                                    == 0);
                });
                double stepMs = end.longestStepMs(usual);
                report(ensemble, stepMs, end, usual);
                boolean isTold = Files.exists(Path.of("/proc/self/schedstat"));
                assertTrue(usual.isWhole() || !isTold, "no thread is called " + THREAD);
                assertTrue(stepMs < MAX_STEP_MS, () -> stepMs + " ms of processor time");
                assertEquals(elections, ensemble.elections(), ensemble::describe);
                if (ELECTION_TIMEOUT_MS < 1000) {
                    assertEquals(0, end.disconnects);
                }
            } finally {
                clients.forEach(GapClient::close);
                large.close();
            }
        }
    }

    private static void fill(Coordinator large, NodePath group) {
        Pipeline.Result result = Pipeline.run(large, 200, EPHEMERALS, i -> Create.of(group.child("member-" + i))
                .withMode(CreateMode.EPHEMERAL));
        assertEquals(0, result.failures());
    }

    private static void awaitWrites(List<GapClient> clients) {
        Awaitility.await("writes of all clients").atMost(PATIENCE).until(() -> clients.stream()
                .allMatch(client -> client.writes() > 100));
    }

    /**
     * What the servers did during some time.
     *
     * @param threadMs by member: processor time of its log's thread
     */
    private record Measured(double longestGapMs, long writes, int disconnects, List<Double> threadMs) {
        static Measured during(Ensemble ensemble, List<GapClient> clients, Runnable action) {
            List<Double> before = threadMs(ensemble);
            clients.forEach(GapClient::mark);
            action.run();
            awaitWrites(clients);
            List<Double> after = threadMs(ensemble);
            return new Measured(
                    clients.stream().mapToDouble(GapClient::longestGapMs).max().orElseThrow(),
                    clients.stream().mapToLong(GapClient::writes).sum(),
                    clients.stream().mapToInt(GapClient::disconnects).sum(),
                    IntStream.range(0, after.size())
                            .mapToObj(i -> after.get(i) - before.get(i))
                            .toList());
        }

        private static List<Double> threadMs(Ensemble ensemble) {
            return ensemble.members().stream()
                    .map(member -> member.processorTime(THREAD).toNanos() / 1e6)
                    .toList();
        }

        /** Whether the system tells of all threads. */
        boolean isWhole() {
            return threadMs.stream().allMatch(ms -> ms > 0);
        }

        /** What a member did at most beside writes like those of another time. */
        double longestStepMs(Measured usual) {
            return IntStream.range(0, threadMs.size())
                    .mapToDouble(i -> threadMs.get(i) - usual.threadMs.get(i) * writes / usual.writes)
                    .max()
                    .orElseThrow();
        }
    }

    /** The gaps have no bound, since a busy machine has some of its own. */
    private static void report(Ensemble ensemble, double stepMs, Measured end, Measured usual) {
        System.out.println(String.format(
                Locale.ROOT,
                "%s, the end of a session with %d ephemerals: %.0f ms of processor time of the log's thread beside"
                        + " %d writes; a gap of %.0f ms at most, %.0f ms before; %d disconnects",
                ensemble,
                EPHEMERALS,
                stepMs,
                end.writes,
                end.longestGapMs,
                usual.longestGapMs,
                end.disconnects));
    }

    private static Coordinator connect(Ensemble ensemble, Member member) {
        return Coordinator.builder(ensemble.connectString(member))
                .sessionTimeout(Duration.ofSeconds(20))
                .connectTimeout(PATIENCE)
                .connect();
    }
}
