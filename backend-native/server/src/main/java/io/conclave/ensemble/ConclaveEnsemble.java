package io.conclave.ensemble;

import io.conclave.consensus.LogRole;
import io.conclave.consensus.entry.Member;
import io.conclave.server.ConclaveServer;
import io.conclave.server.EnsembleConfig;
import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An ensemble of servers in this JVM, for tests of what an application does when servers die, come back, or lose sight of
 * each other. Members have the numbers 1 to n; they talk over TCP on the loopback interface, through links that can be cut.
 *
 * <pre>{@code
 * try (ConclaveEnsemble ensemble = ConclaveEnsemble.start(3);
 *         Coordinator coordinator = Coordinator.connect(ensemble.connectString())) {
 *     DistributedLock lock = DistributedLock.at(coordinator, "/locks/orders");
 *     try (LockGrant grant = lock.acquire()) {
 *         int leader = ensemble.awaitLeader();
 *         ensemble.kill(leader);       // the grant survives: another server leads
 *         ensemble.awaitLeader();
 *         ensemble.restart(leader);
 *     }
 * }
 * }</pre>
 *
 * <p>All methods may be called from any thread, one at a time, and block until what they are for is done; they throw
 * {@link IllegalStateException} if that takes too long. A process cannot be paused from inside: for that, run real ones.
 */
public final class ConclaveEnsemble implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration POLL = Duration.ofMillis(5);
    private static final String HOST = "127.0.0.1";

    private final Builder settings;
    private final Path directory;
    private final TimeSource time = TimeSource.system();
    private final EventLoopGroup proxyLoops;
    private final Map<Integer, Member> members = new TreeMap<>();
    /** By who dials, then by who is dialled. */
    private final Map<Integer, Map<Integer, LinkProxy>> links = new HashMap<>();

    private final Map<Integer, ConclaveServer> running = new TreeMap<>();

    private ConclaveEnsemble(Builder settings) {
        this.settings = settings;
        this.directory = settings.directory.orElseGet(ConclaveEnsemble::temporaryDirectory);
        this.proxyLoops = new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory("conclave-links", true), NioIoHandler.newFactory());
    }

    /** Starts a new ensemble of voters with its files in a temporary directory, and waits until all of them serve. */
    public static ConclaveEnsemble start(int voters) {
        return builder().voters(voters).start();
    }

    /** A builder of an ensemble of three voters with short times. */
    public static Builder builder() {
        return new Builder();
    }

    /** Sets what differs from the defaults. Not thread-safe. */
    public static final class Builder {
        private int voters = 3;
        private int observers;
        private int tickTimeMs = 100;
        private int syncLimitTicks = 40;
        private int electionTimeoutMs = 1000;
        private int maxSessionTimeoutMs = 60_000;
        private long snapshotEveryEntries = 100_000;
        private boolean readOnlyMode;
        private Optional<Path> directory = Optional.empty();

        private Builder() {}

        /** How many servers vote; 3 by default. */
        public Builder voters(int value) {
            voters = value;
            return this;
        }

        /** How many servers do not; none by default. They have the numbers after those of the voters. */
        public Builder observers(int value) {
            observers = value;
            return this;
        }

        /** The unit of time; 100 ms by default. The shortest session timeout is two of them. */
        public Builder tickTimeMs(int value) {
            tickTimeMs = value;
            return this;
        }

        /** After how many ticks without a leader a server sends its clients away; 40 by default. */
        public Builder syncLimitTicks(int value) {
            syncLimitTicks = value;
            return this;
        }

        /** How long a leader may be silent before another one is looked for, at least; 1,000 ms by default. */
        public Builder electionTimeoutMs(int value) {
            electionTimeoutMs = value;
            return this;
        }

        /** Log entries between snapshots; 100,000 by default. */
        public Builder snapshotEveryEntries(long value) {
            snapshotEveryEntries = value;
            return this;
        }

        /** Whether a server without a leader serves reads to clients that ask for that; not so by default. */
        public Builder readOnlyMode(boolean value) {
            readOnlyMode = value;
            return this;
        }

        /** Where the servers' files are kept, and stay; a temporary directory that goes at the end by default. */
        public Builder directory(Path value) {
            directory = Optional.of(value);
            return this;
        }

        /** Starts the ensemble, and waits until all voters vote and all servers serve. */
        public ConclaveEnsemble start() {
            if (voters < 1 || voters + observers > 255) {
                throw new IllegalArgumentException(
                        voters + " voters and " + observers + " observers: there must be 1 to 255, one voter at least");
            }
            ConclaveEnsemble ensemble = new ConclaveEnsemble(this);
            try {
                ensemble.begin();
                return ensemble;
            } catch (RuntimeException | Error e) {
                ensemble.close();
                throw e;
            }
        }
    }

    private void begin() {
        int all = settings.voters + settings.observers;
        for (int id = 1; id <= all; id++) {
            members.put(id, new Member(id, 0, HOST, Ports.find(), "", Ports.find(), id > settings.voters));
        }
        members.keySet().forEach(from -> links.put(from, linksFrom(from)));
        if (all > 1 && !Files.exists(logOf(1).resolve("identity"))) {
            ConclaveServer.giveBirth(configOf(1), time);
        }
        members.keySet().forEach(this::launch);
        await("all servers to be members and to serve", () -> members.keySet().stream()
                .allMatch(this::isComplete));
    }

    private Map<Integer, LinkProxy> linksFrom(int from) {
        Map<Integer, LinkProxy> others = new TreeMap<>();
        for (Member to : members.values()) {
            if (to.id() != from) {
                others.put(to.id(), new LinkProxy(proxyLoops, new InetSocketAddress(to.host(), to.peerPort())));
            }
        }
        return others;
    }

    private Path logOf(int id) {
        return directory.resolve("server-" + id).resolve("log");
    }

    private ServerConfig configOf(int id) {
        Map<Integer, InetSocketAddress> proxies = new HashMap<>();
        linksOf(id).forEach((to, link) -> proxies.put(to, link.address()));
        EnsembleConfig all = EnsembleConfig.of(id, members)
                .withElectionTimeoutMs(settings.electionTimeoutMs)
                .withSyncLimitTicks(settings.syncLimitTicks)
                .withDialInstead(proxies);
        return ServerConfig.builder()
                .clientPort(member(id).clientPort())
                .clientPortAddress(HOST)
                .dataDirectory(Optional.of(logOf(id)))
                .homeDirectory(Optional.of(directory.resolve("server-" + id)))
                .tickTimeMs(settings.tickTimeMs)
                .maxSessionTimeoutMs(settings.maxSessionTimeoutMs)
                .maxConnectionsPerAddress(0)
                .snapshotEveryEntries(settings.snapshotEveryEntries)
                .segmentBytes(8 << 20)
                .eventLoops(1)
                .commandWhitelist(Set.of("*"))
                .readOnlyMode(settings.readOnlyMode)
                .ensemble(all)
                .build();
    }

    private void launch(int id) {
        running.put(id, ConclaveServer.start(configOf(id), time, cause -> {}));
    }

    private boolean isComplete(int id) {
        ConclaveServer server = running.get(id);
        return server != null
                && server.isServing()
                && server.logStatus().configuration().voters().size() == settings.voters
                && server.logStatus().configuration().members().size() == members.size();
    }

    /** What a client connects to: all servers, in the order of their numbers. */
    public String connectString() {
        return "conclave://" + hostsAndPorts();
    }

    /** What a client connects to who shall talk to one server only. */
    public String connectString(int id) {
        return "conclave://" + HOST + ":" + member(id).clientPort();
    }

    /** The servers as {@code host:port,host:port}, for clients that want no scheme. */
    public String hostsAndPorts() {
        return members.values().stream()
                .map(member -> HOST + ":" + member.clientPort())
                .collect(Collectors.joining(","));
    }

    /** The numbers of all servers, running or not. */
    public Set<Integer> ids() {
        return members.keySet();
    }

    /** Which server leads, as most would say; empty while there is none. Does not block. */
    public OptionalInt leader() {
        return running.entrySet().stream()
                .filter(entry -> entry.getValue().logStatus().role() == LogRole.LEADING)
                .max(Comparator.comparingLong(
                        entry -> entry.getValue().logStatus().term()))
                .map(entry -> OptionalInt.of(entry.getKey()))
                .orElse(OptionalInt.empty());
    }

    /** Waits until a server leads and serves, and says which. */
    public int awaitLeader() {
        await(
                "a leader",
                () -> leader().isPresent() && server(leader().getAsInt()).isServing());
        return leader().orElseThrow();
    }

    /** Any running server that does not lead. */
    public int follower() {
        int leader = awaitLeader();
        return running.keySet().stream()
                .filter(id -> id != leader)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no server runs but the leader"));
    }

    /** A running server. */
    public ConclaveServer server(int id) {
        return Optional.ofNullable(running.get(id))
                .orElseThrow(
                        () -> new IllegalStateException("server " + member(id).id() + " does not run"));
    }

    /**
     * Ends a server as if its process had been killed: its connections break, and nothing is answered, handed over or
     * written any more. What it had written stays.
     */
    public void kill(int id) {
        ConclaveServer server = server(id);
        running.remove(id);
        server.kill();
        breakLinks(id);
    }

    /** Ends a server in order; if it leads, it hands over first. */
    public void stop(int id) {
        ConclaveServer server = server(id);
        running.remove(id);
        server.close();
        breakLinks(id);
    }

    private void breakLinks(int id) {
        linksOf(id).values().forEach(LinkProxy::breakConnections);
        linksTo(id).forEach(LinkProxy::breakConnections);
    }

    /** Starts a server that was killed or stopped, and returns when it listens; see {@link #awaitServing}. */
    public void restart(int id) {
        if (running.containsKey(id)) {
            throw new IllegalStateException("server " + id + " runs");
        }
        member(id);
        launch(id);
    }

    /** Waits until a server serves its clients. */
    public void awaitServing(int id) {
        await("server " + id + " to serve", () -> server(id).isServing());
    }

    /** Nothing comes through between two servers, in either direction, until {@link #heal}. */
    public void cut(int one, int other) {
        cutOneWay(one, other);
        cutOneWay(other, one);
    }

    /** Nothing of what one server says reaches the other; the other way remains. */
    public void cutOneWay(int from, int to) {
        link(from, to).cut();
    }

    /** Cuts a server off from all others. Its clients still reach it. */
    public void isolate(int id) {
        linksOf(id).values().forEach(LinkProxy::cut);
        linksTo(id).forEach(LinkProxy::cut);
    }

    /** Undoes the cuts between two servers. */
    public void heal(int one, int other) {
        link(one, other).heal();
        link(other, one).heal();
    }

    /** Undoes all cuts. */
    public void healAll() {
        links.values().forEach(from -> from.values().forEach(LinkProxy::heal));
    }

    private Map<Integer, LinkProxy> linksOf(int id) {
        return Optional.ofNullable(links.get(id)).orElseThrow(() -> unknown(id));
    }

    private List<LinkProxy> linksTo(int id) {
        List<LinkProxy> all = new ArrayList<>();
        links.forEach((from, others) -> {
            LinkProxy link = others.get(id);
            if (link != null) {
                all.add(link);
            }
        });
        return all;
    }

    private LinkProxy link(int from, int to) {
        return Optional.ofNullable(linksOf(from).get(to)).orElseThrow(() -> unknown(to));
    }

    private Member member(int id) {
        return Optional.ofNullable(members.get(id)).orElseThrow(() -> unknown(id));
    }

    private IllegalArgumentException unknown(int id) {
        return new IllegalArgumentException("there is no server " + id + ", only " + members.keySet());
    }

    private void await(String what, BooleanSupplier condition) {
        long deadline = time.monotonicNanos() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            if (time.monotonicNanos() - deadline > 0) {
                throw new IllegalStateException("waited " + LIMIT.toSeconds() + " s for " + what + ": " + this);
            }
            pause();
        }
    }

    private void pause() {
        CountDownLatch later = new CountDownLatch(1);
        time.schedule(POLL, later::countDown);
        try {
            later.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for the ensemble", e);
        }
    }

    /** Ends all servers at once, and deletes their files if they were temporary. Idempotent. */
    @Override
    public void close() {
        List.copyOf(running.keySet()).forEach(this::kill);
        links.values().forEach(from -> from.values().forEach(LinkProxy::close));
        links.clear();
        proxyLoops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(1, TimeUnit.SECONDS);
        if (settings.directory.isEmpty()) {
            delete(directory);
        }
    }

    private static Path temporaryDirectory() {
        try {
            return Files.createTempDirectory("conclave-ensemble-");
        } catch (IOException e) {
            throw new UncheckedIOException("no temporary directory: " + e, e);
        }
    }

    private static void delete(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + directory + ": " + e, e);
        }
    }

    @Override
    public String toString() {
        return running.entrySet().stream()
                .map(entry -> entry.getKey() + " " + entry.getValue().logStatus() + " serving "
                        + entry.getValue().isServing())
                .collect(Collectors.joining("; ", "ConclaveEnsemble[", "]"));
    }
}
