package io.conclave.proofs.hostile;

import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Each attack for some seconds against three servers with a heap of 256 MB, and what bystanders measure meanwhile.
 * Arguments: zookeeper or conclave, seconds of an attack, connections of an attacker per server, and the attacks.
 */
public final class HostileClients {
    static final String HEAP = "-Xmx256m";

    // The windows of a measurement: nothing is waited for, the bystanders' requests of that time are what is measured.
    private static final Duration WARM_UP = Duration.ofSeconds(1);
    private static final Duration BASELINE = Duration.ofSeconds(2);
    private static final Duration REST = Duration.ofMillis(500);

    private HostileClients() {}

    /** An attack, what other clients measured before and during it, and whether all servers survived it. */
    record Outcome(Attack attack, Bystanders.Latencies before, Bystanders.Latencies during, boolean survived) {}

    /** The campaign. */
    public static void main(String[] arguments) throws Exception {
        EnsembleKind kind = arguments.length > 0 && arguments[0].equals("zookeeper")
                ? EnsembleKind.APACHE_ZOOKEEPER
                : EnsembleKind.CONCLAVE;
        int seconds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 10;
        int connections = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 4;
        List<Attack> attacks = arguments.length > 3
                ? Arrays.stream(arguments).skip(3).map(Attack::valueOf).toList()
                : List.of(Attack.values());
        Path home = Files.createTempDirectory("hostile");
        try (Ensemble ensemble = start(kind, home)) {
            run(ensemble, seconds, connections, attacks);
        }
    }

    static Ensemble start(EnsembleKind kind, Path home) {
        return Ensemble.of(kind, home)
                .servers(3)
                .ticks(2000, 20, 10)
                .with("maxSessionTimeout", 60_000)
                .withJvm(HEAP)
                .withJvm("-XX:+ExitOnOutOfMemoryError")
                .start();
    }

    static List<Outcome> run(Ensemble ensemble, int seconds, int connections, List<Attack> attacks) throws Exception {
        List<Outcome> outcomes = new ArrayList<>();
        ensemble.awaitAllServing();
        for (Attack attack : attacks) {
            Outcome outcome = run(ensemble, seconds, connections, attack);
            outcomes.add(outcome);
            if (!outcome.survived) {
                for (Member member : ensemble.members()) {
                    if (!member.isAlive()) {
                        member.start();
                    }
                }
                ensemble.awaitAllServing();
            }
        }
        return outcomes;
    }

    private static Outcome run(Ensemble ensemble, int seconds, int connections, Attack attack) throws Exception {
        try (RawConnection connection =
                RawConnection.attached(ensemble.members().get(0).clientPort(), 3)) {
            attack.prepare(connection);
        }
        try (Bystanders bystanders = new Bystanders(ensemble.members())) {
            measure(WARM_UP);
            bystanders.reset();
            measure(BASELINE);
            Bystanders.Latencies before = bystanders.latencies();
            bystanders.reset();
            String sent;
            try (Attackers attackers = new Attackers(attack, ensemble.members(), connections)) {
                measure(Duration.ofSeconds(seconds));
                sent = attackers.describe();
            }
            measure(REST);
            Bystanders.Latencies during = bystanders.latencies();
            boolean survived = ensemble.members().stream().allMatch(Member::isAlive);
            System.out.println(String.format(
                    Locale.ROOT,
                    "%s%n  before %s%n  during %s%n  %s; %s; live heap %s",
                    attack,
                    before,
                    during,
                    survived ? "all survived" : "A SERVER HAS ENDED",
                    sent,
                    liveHeaps(ensemble)));
            return new Outcome(attack, before, during, survived);
        }
    }

    private static void measure(Duration window) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(window.toNanos());
    }

    /** After a full collection, in MB. */
    static String liveHeaps(Ensemble ensemble) throws IOException, InterruptedException {
        List<String> heaps = new ArrayList<>();
        for (Member member : ensemble.members()) {
            heaps.add(member.isAlive() ? liveHeapMb(member.pid()) : "-");
        }
        return String.join(", ", heaps) + " MB";
    }

    private static String liveHeapMb(long pid) throws IOException, InterruptedException {
        String histogram = jcmd(pid, "GC.class_histogram");
        String total = histogram
                .lines()
                .filter(line -> line.startsWith("Total"))
                .findFirst()
                .orElse("Total 0 0");
        return Long.toString(Long.parseLong(total.trim().split("\\s+")[2]) >> 20);
    }

    static String jcmd(long pid, String word) throws IOException, InterruptedException {
        Process jcmd = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(), Long.toString(pid), word)
                .redirectErrorStream(true)
                .start();
        String text = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        jcmd.waitFor();
        return text;
    }
}
