package io.conclave.proofs.failover;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.proofs.campaign.Pipeline;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A session with 100,000 ephemerals ends, which is one step on every server. Clients of all servers write on, none is
 * disconnected, and no member stands for election. It prints the longest gap.
 */
class LargeSessionEndIT {
    private static final int EPHEMERALS = 100_000;
    /**
     * No heartbeat may be late by as much. A busy machine delays some by more than the default of 1 s; with 500, half
     * of it, this measures a quiet one.
     */
    private static final int ELECTION_TIMEOUT_MS = Integer.getInteger("largeSession.electionTimeoutMs", 5000);

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
                clients.forEach(GapClient::mark);
                awaitWrites(clients);
                double usualMs = longestGapMs(clients);
                long elections = ensemble.elections();
                clients.forEach(GapClient::mark);
                large.close();
                Awaitility.await("the ephemerals to go")
                        .atMost(PATIENCE)
                        .until(() ->
                                other.execute(Exists.of(group)).orElseThrow().numChildren() == 0);
                awaitWrites(clients);
                report(ensemble, usualMs, longestGapMs(clients));
                assertEquals(elections, ensemble.elections(), ensemble::describe);
                assertEquals(
                        0, clients.stream().mapToInt(GapClient::disconnects).sum());
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

    private static double longestGapMs(List<GapClient> clients) {
        return clients.stream().mapToDouble(GapClient::longestGapMs).max().orElseThrow();
    }

    /** Without a bound, since a busy machine has gaps of its own. */
    private static void report(Ensemble ensemble, double usualMs, double longestMs) {
        System.out.println(String.format(
                Locale.ROOT,
                "%s, the end of a session with %d ephemerals: a gap of %.0f ms at most, %.0f ms before",
                ensemble,
                EPHEMERALS,
                longestMs,
                usualMs));
    }

    private static Coordinator connect(Ensemble ensemble, Member member) {
        return Coordinator.builder(ensemble.connectString(member))
                .sessionTimeout(Duration.ofSeconds(20))
                .connectTimeout(PATIENCE)
                .connect();
    }
}
