package io.conclave.proofs.ensemble;

import io.conclave.proofs.ensemble.PeerNetwork.PeerPorts;
import io.conclave.proofs.faults.ChildJvm;
import io.conclave.testkit.proxy.FreePort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Collects what an ensemble is to be like, and starts it. */
public final class EnsembleBuilder {
    private final EnsembleKind kind;
    private final Path home;
    private final List<String> settings = new ArrayList<>();
    private final List<String> jvmOptions = new ArrayList<>();
    private PeerNetwork network = new DirectNetwork();
    private int servers = 3;
    private int spares;
    private @Nullable Path classes;

    EnsembleBuilder(EnsembleKind kind, Path home) {
        this.kind = kind;
        this.home = home;
    }

    /** How many; three if not set. */
    public EnsembleBuilder servers(int count) {
        servers = count;
        return this;
    }

    /** With which classes all begin, in front of the present ones; see {@link Member#version}. */
    public EnsembleBuilder version(Path value) {
        classes = value;
        return this;
    }

    /**
     * How many more are made ready and not started: servers that the configuration of the others does not know. None if
     * not set.
     */
    public EnsembleBuilder spares(int count) {
        spares = count;
        return this;
    }

    /**
     * Where a member of an ensemble in this directory will keep its data, for tests that put a file system of its own
     * there.
     */
    public static Path dataOf(Path home, int number) {
        return home.resolve("member-" + number).resolve("data");
    }

    /** The three words of time in the configuration. */
    public EnsembleBuilder ticks(int tickMs, int initLimit, int syncLimit) {
        return with("tickTime", tickMs).with("initLimit", initLimit).with("syncLimit", syncLimit);
    }

    /** Adds a line to everyone's configuration. */
    public EnsembleBuilder with(String key, Object value) {
        settings.add(key + "=" + value);
        return this;
    }

    /** Adds an option for everyone's JVM. */
    public EnsembleBuilder withJvm(String option) {
        jvmOptions.add(option);
        return this;
    }

    /** Small JVMs that start quickly, for tests that have many of them on few cores and measure nothing. */
    public EnsembleBuilder withSmallJvms() {
        return withJvm("-Xmx192m").withJvm("-XX:TieredStopAtLevel=1").withJvm("-XX:+UseSerialGC");
    }

    /**
     * Something between the members, so that links can be cut: TCP proxies, or with
     * {@code -Densemble.network=namespaces} a network namespace for each.
     */
    public EnsembleBuilder withBreakableLinks() {
        network = System.getProperty("ensemble.network", "proxies").equals("namespaces")
                ? new NamespaceNetwork()
                : new ProxiedNetwork();
        return this;
    }

    /** Starts all of them on empty directories, and returns when all serve. */
    public Ensemble start() {
        Ensemble ensemble = prepare();
        try {
            ensemble.members().forEach(Member::start);
            ensemble.awaitAllServing();
            return ensemble;
        } catch (RuntimeException | Error e) {
            ensemble.close();
            throw e;
        }
    }

    /** All of them with their files, to be started one by one. */
    public Ensemble prepare() {
        List<PeerPorts> ports = IntStream.range(0, servers + spares)
                .mapToObj(index -> new PeerPorts(FreePort.find(), FreePort.find()))
                .toList();
        network.open(home, ports);
        return new Ensemble(
                kind,
                network,
                IntStream.rangeClosed(1, servers)
                        .mapToObj(number -> prepare(number, ports))
                        .toList(),
                IntStream.rangeClosed(servers + 1, servers + spares)
                        .mapToObj(number -> prepare(number, ports))
                        .toList());
    }

    /** Writes a member's files; a kind that needs it is bootstrapped. */
    private Member prepare(int number, List<PeerPorts> ports) {
        try {
            Path directory = Files.createDirectories(home.resolve("member-" + number));
            Path data = Files.createDirectories(dataOf(home, number));
            Files.writeString(data.resolve("myid"), number + "\n");
            int clientPort = FreePort.find();
            Path file = Files.write(directory.resolve("zoo.cfg"), configuration(number, data, clientPort, ports));
            Member member = new Member(
                    number,
                    directory,
                    new InetSocketAddress(network.clientHostOf(number), clientPort),
                    network.nameOf(number) + ":" + ports.get(number - 1).peer(),
                    (word, arguments) -> command(number, word, file, arguments));
            member.version(classes);
            if (kind.isBootstrappedAt(number)) {
                member.command("init");
            }
            return member;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<String> command(int number, String word, Path file, List<String> following) {
        List<String> arguments = new ArrayList<>(kind.arguments(word, file.toString()));
        arguments.addAll(following);
        List<String> options = new ArrayList<>(jvmOptions);
        options.addAll(network.jvmOptionsOf(number));
        List<String> command = new ArrayList<>(network.commandPrefixOf(number));
        command.addAll(ChildJvm.command(options, kind.mainClass(), arguments));
        return command;
    }

    private List<String> configuration(int number, Path data, int clientPort, List<PeerPorts> ports) {
        List<String> lines = new ArrayList<>(kind.configuration(home));
        lines.addAll(settings);
        lines.add("dataDir=" + data.toAbsolutePath());
        lines.add("clientPort=" + clientPort);
        lines.add("clientPortAddress=" + network.clientBindAddressOf(number));
        for (int other = 1; other <= ports.size(); other++) {
            if (other <= servers || other == number) {
                PeerPorts port = ports.get(other - 1);
                lines.add("server." + other + "=" + network.nameOf(other) + ":" + port.peer() + ":" + port.election());
            }
        }
        return lines;
    }
}
