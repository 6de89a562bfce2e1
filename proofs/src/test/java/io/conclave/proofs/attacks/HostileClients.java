package io.conclave.proofs.attacks;

import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleBuilder;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.RequestBody;
import io.conclave.testkit.tls.CertificateAuthority;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Each attack for some seconds against three servers with a heap of 256 MB, and what bystanders measure before it and
 * meanwhile, in windows of a second.
 */
final class HostileClients implements AutoCloseable {
    static final String HEAP = "-Xmx256m";

    // The windows of a measurement: nothing is waited for, the bystanders' requests of that time are what is measured.
    private static final Duration WINDOW = Duration.ofSeconds(1);
    /** What an attack has left may still be under way. */
    private static final Duration REST = Duration.ofMillis(500);

    /** The last byte of the address of a client that comes during an attack. */
    private static final int NEWCOMER = 4;

    private static final int LOG_LINES = 40;
    private static final int DELETIONS_OF_MULTI = 200;

    private final Ensemble ensemble;
    private final int connectionsPerServer;
    private final AttackerProcess attackers;
    private int runs;

    HostileClients(Ensemble ensemble, int connectionsPerServer) throws IOException {
        this.ensemble = ensemble;
        this.connectionsPerServer = connectionsPerServer;
        this.attackers = new AttackerProcess();
    }

    /**
     * An attack, what other clients measured before and during it and beside a burner of the same processor time, how
     * many servers it has ended, and how many of those that came while it went on were refused: a client at each
     * server, and an operator.
     *
     * @param beside beside a burner; as before the attack where that is not measured
     * @param attackersCores the processor time of the attackers, in cores
     * @param serversCores the same of the servers
     */
    record Outcome(
            Attack attack,
            Bystanders.Latencies before,
            Bystanders.Latencies beside,
            Bystanders.Latencies during,
            double attackersCores,
            double serversCores,
            int ended,
            List<String> refused,
            String sent) {
        /** Below it, a difference says more about the machine than about the servers. */
        private static final double FLOOR_MS = 20;

        /** With what others measured beside a burner. */
        Outcome beside(Bystanders.Latencies beside) {
            return new Outcome(attack, before, beside, during, attackersCores, serversCores, ended, refused, sent);
        }

        /** Whether the others' p99 was within so many times that beside a burner, or close to it. */
        boolean isWithin(double times) {
            return during.p99() <= Math.max(beside.p99() * times, beside.p99() + FLOOR_MS);
        }

        double ratio() {
            return beside.p99() == 0 ? 0 : during.p99() / beside.p99();
        }

        static String heading() {
            return "| attack | p99 before it | beside a burner | during it | times | longest | failed | servers ended"
                    + " | cores of attackers, servers |\n"
                    + "|---|---|---|---|---|---|---|---|---|";
        }

        /** A row of the table. */
        String row() {
            return String.format(
                    Locale.ROOT,
                    "| %s | %.0f | %.0f | %.0f | %.1f%s | %.0f | %d of %d | %d | %.2f, %.2f |",
                    attack,
                    before.p99(),
                    beside.p99(),
                    during.p99(),
                    ratio(),
                    isWithin(3) ? "" : " (!)",
                    during.max(),
                    during.failures(),
                    during.count() + during.failures(),
                    ended,
                    attackersCores,
                    serversCores);
        }
    }

    static Ensemble start(EnsembleKind kind, Path home) {
        return start(builder(kind, home));
    }

    static EnsembleBuilder builder(EnsembleKind kind, Path home) {
        EnsembleBuilder builder = Ensemble.of(kind, home)
                .servers(3)
                .ticks(2000, 20, 10)
                .with("maxSessionTimeout", 60_000)
                .with("maxSessionsPerAddress", 4_096) // as by default: without it, and with maxClientCnxns=0, none
                .withJvm(HEAP)
                .withJvm("-XX:+ExitOnOutOfMemoryError")
                .withJvm("-Djava.security.auth.login.config=" + writeJaasFile(home.resolve("jaas.conf")));
        return kind == EnsembleKind.CONCLAVE ? withTls(builder, home) : builder;
    }

    private static Path writeJaasFile(Path file) {
        try {
            return Files.writeString(
                    file,
                    "Server { org.apache.zookeeper.server.auth.DigestLoginModule required"
                            + " user_bob=\"password\"; };");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The same port takes clients with TLS, also such without certificates. */
    private static EnsembleBuilder withTls(EnsembleBuilder builder, Path home) {
        return builder.with("client.portUnification", true)
                .with("ssl.clientAuth", "none")
                .with(
                        "ssl.keyStore.location",
                        new CertificateAuthority("CN=Authority")
                                .issue("CN=server", "localhost", "127.0.0.1")
                                .writePem(home.resolve("server.pem")));
    }

    static Ensemble start(EnsembleBuilder builder) {
        Ensemble ensemble = builder.start();
        ensemble.awaitAllServing();
        return ensemble;
    }

    /** One attack; the others are measured for so many seconds before it, and while it goes on. */
    Outcome run(Attack attack, int secondsBefore, int seconds) throws Exception {
        try (RawConnection connection = connect()) {
            attack.prepare(connection);
        }
        return measure(attack, secondsBefore, seconds);
    }

    /** Starts servers again that an attack has ended, and deletes what it has left in the tree. */
    void tidy() throws InterruptedException {
        for (boolean done = false; !done; ) {
            restartEnded();
            done = tidied();
        }
    }

    /** False if a server ends, or stops serving, meanwhile: what it has in hand may be too much for it even now. */
    private boolean tidied() throws InterruptedException {
        try {
            deleteAll();
            return true;
        } catch (IOException e) {
            pass(WINDOW);
            return false;
        }
    }

    private RawConnection connect() throws IOException {
        return RawConnection.attached(ensemble.members().get(0).clientPort(), 3);
    }

    private Outcome measure(Attack attack, int secondsBefore, int seconds) throws Exception {
        List<Integer> ports =
                ensemble.members().stream().map(Member::clientPort).toList();
        try (Bystanders bystanders = new Bystanders(ensemble.members())) {
            pass(WINDOW);
            bystanders.reset();
            Bystanders.Latencies before = windows(bystanders, secondsBefore);
            long sinceNanos = System.nanoTime();
            Duration ofAttackers = attackers.processorTime();
            Duration ofServers = processorTimeOfServers();
            attackers.begin(attack, Integer.toString(runs++), ports, connectionsPerServer);
            Bystanders.Latencies during = windows(bystanders, seconds);
            double attackersCores = cores(ofAttackers, attackers.processorTime(), sinceNanos);
            double serversCores = cores(ofServers, processorTimeOfServers(), sinceNanos);
            List<String> refused = attack.opening(0).isPresent() ? newcomers(attack) : List.of();
            String sent = attackers.end();
            pass(REST);
            int ended = (int) ensemble.members().stream()
                    .filter(member -> !member.isAlive())
                    .count();
            return new Outcome(attack, before, before, during, attackersCores, serversCores, ended, refused, sent);
        }
    }

    /** What others measure while a process takes so much processor time in the attackers' place. */
    Bystanders.Latencies besideBurner(double cores, int seconds) throws Exception {
        try (Bystanders bystanders = new Bystanders(ensemble.members())) {
            attackers.burn(cores);
            pass(WINDOW);
            bystanders.reset();
            Bystanders.Latencies beside = windows(bystanders, seconds);
            attackers.end();
            return beside;
        }
    }

    /** Of those that are alive. */
    private Duration processorTimeOfServers() {
        return ensemble.members().stream()
                .filter(Member::isAlive)
                .flatMap(member -> ProcessHandle.of(member.pid()).stream())
                .flatMap(process -> process.info().totalCpuDuration().stream())
                .reduce(Duration.ZERO, Duration::plus);
    }

    private static double cores(Duration from, Duration to, long sinceNanos) {
        return Math.max(0, to.minus(from).toNanos() / (double) (System.nanoTime() - sinceNanos));
    }

    /** What a client that comes to each server, and an operator, are told if they are refused. */
    private List<String> newcomers(Attack attack) {
        List<String> refused = new ArrayList<>();
        for (Member member : ensemble.members()) {
            try (RawConnection connection = attack.needsTls()
                    ? RawConnection.attachedOverTls(member.clientPort(), NEWCOMER)
                    : RawConnection.attached(member.clientPort(), NEWCOMER)) {
                connection.call(new RequestBody.Exists("/", false));
            } catch (IOException e) {
                refused.add("a client at " + member + ": " + e);
            }
        }
        if (ensemble.kind() == EnsembleKind.CONCLAVE) {
            try {
                ensemble.members().get(0).command("members");
            } catch (IllegalStateException e) {
                refused.add("an operator: " + e.getMessage());
            }
        }
        return refused;
    }

    private static Bystanders.Latencies windows(Bystanders bystanders, int count) throws InterruptedException {
        List<Bystanders.Latencies> windows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            pass(WINDOW);
            windows.add(bystanders.latencies());
        }
        return Bystanders.Latencies.medianOf(windows);
    }

    private static void pass(Duration time) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(time.toNanos());
    }

    private void restartEnded() {
        ensemble.members().stream().filter(member -> !member.isAlive()).forEach(Member::start);
        ensemble.awaitAllServing();
    }

    /** The tree as it was before the first attack. */
    private void deleteAll() throws IOException {
        try (RawConnection connection = connect()) {
            for (String name : connection.children("/")) {
                if (name.equals("zookeeper")) {
                    continue;
                }
                delete(connection, connection.children("/" + name), "/" + name + "/");
            }
            delete(connection, connection.children(Attack.QUOTA), Attack.QUOTA + "/");
            delete(
                    connection,
                    connection.children("/").stream()
                            .filter(name -> !name.equals("zookeeper"))
                            .toList(),
                    "/");
        }
    }

    private static void delete(RawConnection connection, List<String> names, String prefix) throws IOException {
        for (int first = 0; first < names.size(); first += DELETIONS_OF_MULTI) {
            List<RequestBody> deletions =
                    names.subList(first, Math.min(names.size(), first + DELETIONS_OF_MULTI)).stream()
                            .<RequestBody>map(name -> new RequestBody.Delete(prefix + name, -1))
                            .toList();
            if (connection.call(new RequestBody.Multi(OpCode.MULTI, deletions)) != 0) {
                // an ephemeral that has gone by itself takes the whole multi with it
                for (RequestBody deletion : deletions) {
                    connection.call(deletion);
                }
            }
        }
    }

    /** How often a server had no memory for something, as far as its log says so. */
    long lacksOfMemory() {
        return ensemble.members().stream()
                .flatMap(member -> member.log().lines())
                .filter(line -> line.contains("OutOfMemoryError"))
                .count();
    }

    /** What each server has said last. */
    String logs() {
        return ensemble.members().stream()
                .map(member -> {
                    List<String> lines = member.log().lines().toList();
                    return lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()).stream()
                            .map(line -> "\n  " + member + ": " + line)
                            .collect(Collectors.joining());
                })
                .collect(Collectors.joining());
    }

    /** After a full collection, in MB. */
    String liveHeaps() {
        return ensemble.members().stream()
                        .map(member -> member.isAlive() ? Long.toString(liveHeapMb(member.pid())) : "-")
                        .collect(Collectors.joining(", "))
                + " MB";
    }

    private static long liveHeapMb(long pid) {
        return jcmd(pid, "GC.class_histogram")
                .lines()
                .filter(line -> line.startsWith("Total"))
                .map(line -> Long.parseLong(line.trim().split("\\s+")[2]) >> 20)
                .findFirst()
                .orElse(0L);
    }

    static String jcmd(long pid, String word) {
        try {
            Process jcmd = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "jcmd")
                                    .toString(),
                            Long.toString(pid),
                            word)
                    .redirectErrorStream(true)
                    .start();
            String text = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            jcmd.waitFor();
            return text;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() throws InterruptedException {
        attackers.close();
    }
}
