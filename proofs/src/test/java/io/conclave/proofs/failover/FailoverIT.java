package io.conclave.proofs.failover;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Leaders are killed and stopped, of each kind in turns, while a client on each server writes without a pause:
 * {@code scripts/failover 20} is its long form. It prints what it measures.
 */
class FailoverIT {
    private static final int TIMES = Integer.getInteger("failover.times", 1);
    private static final String KINDS =
            System.getProperty("failover.kinds", EnsembleKind.chosen().name());
    private static final int WRITES_BEFORE = 200;
    private static final int WRITES_AFTER = 50;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path home;

    private final Map<EnsembleKind, Ensemble> ensembles = new LinkedHashMap<>();
    private final Map<EnsembleKind, Map<End, Gaps>> results = new LinkedHashMap<>();
    private int clients;

    /** How a leader ends. */
    private enum End {
        KILL("kill -9") {
            @Override
            void of(Member leader) throws InterruptedException {
                leader.kill();
            }
        },
        TERMINATE("SIGTERM") {
            @Override
            void of(Member leader) throws InterruptedException {
                leader.terminate();
            }
        };

        private final String label;

        End(String label) {
            this.label = label;
        }

        abstract void of(Member leader) throws InterruptedException;
    }

    @Test
    @Timeout(3 * 3600)
    void writesGoOnWhenTheLeaderGoes() throws Exception {
        try {
            for (String name : KINDS.split(",")) {
                EnsembleKind kind = EnsembleKind.valueOf(name);
                ensembles.put(kind, start(kind));
                results.put(kind, new LinkedHashMap<>());
            }
            for (End end : End.values()) {
                for (int time = 1; time <= TIMES; time++) {
                    for (Ensemble ensemble : ensembles.values()) {
                        measure(ensemble, end, time);
                    }
                }
            }
        } finally {
            ensembles.values().forEach(Ensemble::close);
        }
        report();
    }

    /** Settings that are as good for one as for the other; tickTime 2000 is what ZooKeeper's documentation has. */
    private Ensemble start(EnsembleKind kind) throws Exception {
        return Ensemble.of(kind, Files.createDirectories(home.resolve(kind.name())))
                .ticks(2000, 10, 5)
                .withJvm("-Xms256m")
                .withJvm("-Xmx256m")
                .start();
    }

    private void measure(Ensemble ensemble, End end, int time) throws Exception {
        Member leader = ensemble.heal();
        List<GapClient> writers = new ArrayList<>();
        try {
            for (Member member : ensemble.members()) {
                writers.add(new GapClient(ensemble, member, "writer-" + ++clients));
            }
            awaitWrites(writers, WRITES_BEFORE);
            writers.forEach(GapClient::mark);
            end.of(leader);
            long endNanos = System.nanoTime();
            Awaitility.await().atMost(PATIENCE).until(() -> writers.stream()
                    .allMatch(writer -> writer.lastNanos() > endNanos));
            long before = writers.stream().mapToLong(GapClient::writes).max().orElseThrow();
            awaitWrites(writers, before + WRITES_AFTER);
            record(ensemble, end, time, leader, writers);
        } finally {
            writers.forEach(GapClient::close);
        }
    }

    private static void awaitWrites(List<GapClient> writers, long count) {
        Awaitility.await().atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(() -> writers.stream()
                .allMatch(writer -> writer.writes() >= count));
    }

    private void record(Ensemble ensemble, End end, int time, Member leader, List<GapClient> writers) {
        double leadersMs = 0;
        List<Double> othersMs = new ArrayList<>();
        int disconnected = 0;
        for (GapClient writer : writers) {
            if (writer.member() == leader) {
                leadersMs = writer.longestGapMs();
            } else {
                othersMs.add(writer.longestGapMs());
                disconnected += writer.disconnects() > 0 ? 1 : 0;
            }
        }
        results.get(ensemble.kind()).computeIfAbsent(end, key -> new Gaps()).add(leadersMs, othersMs, disconnected);
        System.out.println(String.format(
                Locale.ROOT,
                "%-8s %3d %-16s leader's client %6.0f ms, others %s ms, %d of them disconnected",
                end.label,
                time,
                ensemble.kind(),
                leadersMs,
                Arrays.toString(
                        othersMs.stream().mapToLong(Math::round).sorted().toArray()),
                disconnected));
    }

    private void report() {
        System.out.println(
                "\nThe longest time without an acknowledged write, in ms; " + TIMES + " times each, in turns\n");
        System.out.println("| leader's end | servers | any client: median | worst | leader's client: median | worst |"
                + " others: median | worst | others disconnected |");
        System.out.println("|---|---|---:|---:|---:|---:|---:|---:|---:|");
        for (End end : End.values()) {
            results.forEach((kind, gaps) -> {
                System.out.println(
                        "| " + end.label + " | " + kind + " | " + gaps.get(end).row() + " |");
                assertTrue(gaps.get(end).median() > 0);
            });
        }
    }
}
