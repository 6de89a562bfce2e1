package io.conclave.ensemble;

import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.server.ConclaveServer;
import io.conclave.server.EnsembleConfig;
import io.conclave.server.EnsembleTls;
import io.conclave.server.LogMaintenance;
import io.conclave.server.PeerSecretFile;
import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * An ensemble of servers, to test what an application does when servers die, come back, stall, or lose sight of each
 * other. The servers are in this JVM, or each is a process of its own ({@link Builder#asProcesses}). They have the
 * numbers 1 to n, and talk over TCP on the loopback interface, through links that can be cut. They have a secret of
 * their own, so nothing else on the machine can join them.
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
 *         int next = ensemble.awaitLeader();
 *         ensemble.pause(next);        // it is silent, and does not know of the leader that comes after it
 *         ensemble.awaitLeader();
 *         ensemble.resume(next);
 *     }
 * }
 * }</pre>
 *
 * <p>Any thread may call the methods, one call at a time. They block until their work is done. They throw
 * {@link IllegalStateException} if that takes too long or if the server is in the wrong state, and
 * {@link IllegalArgumentException} if there is no server of that number.
 */
public final class ConclaveEnsemble implements AutoCloseable {
    private static final String HOST = "127.0.0.1";

    private final Builder settings;
    private final EnsembleFiles files;
    private final TimeSource time = TimeSource.system();
    private final Polls polls;
    private final Links links = new Links();
    private final Map<Integer, EnsembleMember> members = new TreeMap<>();
    /** The servers that were started and neither killed nor stopped. */
    private final Map<Integer, RunningServer> running = new TreeMap<>();

    private final Set<Integer> paused = new TreeSet<>();

    private ConclaveEnsemble(Builder settings) {
        this.settings = settings;
        this.files = EnsembleFiles.in(settings.directory);
        this.polls = settings.asProcesses ? Polls.ofProcesses(time) : Polls.inJvm(time);
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
        private long containerCheckIntervalMs = 60_000;
        private boolean readOnlyMode;
        private Optional<Path> directory = Optional.empty();
        private EnsembleTls tls = EnsembleTls.NONE;
        private boolean asProcesses;
        private List<String> jvmOptions = List.of();

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

        /** How long a leader may be silent, at least, before the others elect a new one; 1,000 ms by default. */
        public Builder electionTimeoutMs(int value) {
            electionTimeoutMs = value;
            return this;
        }

        /** Log entries between snapshots; 100,000 by default. */
        public Builder snapshotEveryEntries(long value) {
            snapshotEveryEntries = value;
            return this;
        }

        /** How often empty containers and znodes that have outlived their time are looked for; 60,000 ms by default. */
        public Builder containerCheckIntervalMs(long value) {
            containerCheckIntervalMs = value;
            return this;
        }

        /** Whether a server without a leader serves reads to clients that ask for it; off by default. */
        public Builder readOnlyMode(boolean value) {
            readOnlyMode = value;
            return this;
        }

        /**
         * How the members use TLS among themselves; not at all by default. All of them have the same certificate, which
         * has to be for {@code 127.0.0.1}; servers that are processes need stores without a password, such as PEM
         * files.
         */
        public Builder membersTls(EnsembleTls value) {
            tls = value;
            return this;
        }

        /** The directory of the servers' files, which stay; by default a temporary directory, deleted at the end. */
        public Builder directory(Path value) {
            directory = Optional.of(value);
            return this;
        }

        /**
         * Makes each server a process of its own, with the Java and the class path of this one, instead of a part of
         * this JVM. Then {@link ConclaveEnsemble#kill} is SIGKILL, {@link ConclaveEnsemble#stop} is SIGTERM, and
         * {@link ConclaveEnsemble#pause} is SIGSTOP, which needs a POSIX shell. A process ends when this JVM does, also
         * when it is paused; its output goes to {@code server-N/conclave-server.out} in the directory of the ensemble.
         *
         * @param options more options of the JVM, such as {@code -Xmx1g}; by default it has 256 MB of heap
         */
        public Builder asProcesses(String... options) {
            asProcesses = true;
            jvmOptions = List.of(options);
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
            members.put(id, new EnsembleMember(id, 0, HOST, Ports.find(), "", Ports.find(), id > settings.voters));
        }
        links.open(members.values());
        PeerSecretFile.of(configOf(1)).makeIfMissing();
        if (!files.hasLog(1)) {
            LogMaintenance.bootstrap(configOf(1), time);
        }
        members.keySet().forEach(this::launch);
        await("all servers to be members and to serve", () -> members.keySet().stream()
                .allMatch(this::isComplete));
    }

    private ServerConfig configOf(int id) {
        EnsembleConfig all = EnsembleConfig.of(id, members)
                .withElectionTimeoutMs(settings.electionTimeoutMs)
                .withSyncLimitTicks(settings.syncLimitTicks)
                .withDialInstead(links.dialledBy(id))
                .withAuthentication(PeerAuthentication.REQUIRED, Optional.of(files.secret()))
                .withTls(settings.tls);
        return ServerConfig.builder()
                .clientPort(member(id).clientPort())
                .clientPortAddress(HOST)
                .dataDirectory(Optional.of(files.log(id)))
                .homeDirectory(Optional.of(files.home(id)))
                .tickTimeMs(settings.tickTimeMs)
                .maxSessionTimeoutMs(settings.maxSessionTimeoutMs)
                .maxConnectionsPerAddress(0)
                .snapshotEveryEntries(settings.snapshotEveryEntries)
                .containerCheckIntervalMs(settings.containerCheckIntervalMs)
                .segmentBytes(8 << 20)
                .eventLoops(1)
                .commandWhitelist(Set.of("*"))
                .readOnlyMode(settings.readOnlyMode)
                .ensemble(all)
                .build();
    }

    private void launch(int id) {
        ServerConfig config = configOf(id);
        running.put(
                id,
                settings.asProcesses
                        ? ServerProcess.start(config, settings.jvmOptions)
                        : ServerInJvm.start(config, time));
    }

    private boolean isComplete(int id) {
        return alive(id)
                .status()
                .filter(status ->
                        status.serves() && status.voters() == settings.voters && status.members() == members.size())
                .isPresent();
    }

    /** The connect string of all servers, in the order of their numbers. */
    public String connectString() {
        return "conclave://" + hostsAndPorts();
    }

    /** The connect string of a client that shall talk to one server only. */
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

    /**
     * The server that leads in the highest term; empty while none leads. A paused server does not lead. Does not block,
     * but for processes that are asked one after the other, for about a second at most each.
     */
    public OptionalInt leader() {
        return leading().map(Leading::id).map(OptionalInt::of).orElse(OptionalInt.empty());
    }

    private record Leading(int id, ServerStatus status) {}

    /** An old leader may not know yet of the new one, whose term is higher. */
    private Optional<Leading> leading() {
        return running.keySet().stream()
                .flatMap(id -> statusOf(id).filter(ServerStatus::leads).map(status -> new Leading(id, status)).stream())
                .max(Comparator.comparingLong(leading -> leading.status().term()));
    }

    /** The status of a server that runs and is not paused. */
    private Optional<ServerStatus> statusOf(int id) {
        return paused.contains(id)
                ? Optional.empty()
                : Optional.ofNullable(running.get(id)).flatMap(RunningServer::status);
    }

    /** Waits until a server leads and serves, and returns its number. */
    public int awaitLeader() {
        List<Integer> leader = new ArrayList<>();
        await("a leader", () -> leading()
                .filter(leading -> leading.status().serves())
                .map(leading -> leader.add(leading.id()))
                .isPresent());
        return leader.get(0);
    }

    /** Any running server that does not lead and is not paused. */
    public int follower() {
        int leader = awaitLeader();
        return running.keySet().stream()
                .filter(id -> id != leader && !paused.contains(id))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no server runs but the leader"));
    }

    /**
     * A running server.
     *
     * @throws UnsupportedOperationException if servers are processes
     */
    public ConclaveServer server(int id) {
        return started(id).server();
    }

    private RunningServer started(int id) {
        return Optional.ofNullable(running.get(id))
                .orElseThrow(
                        () -> new IllegalStateException("server " + member(id).id() + " does not run"));
    }

    /** A server that has not ended by itself either. */
    private RunningServer alive(int id) {
        RunningServer server = started(id);
        server.ending().ifPresent(how -> {
            throw new IllegalStateException("server " + id + " does not run any more: " + how);
        });
        return server;
    }

    /**
     * Ends a server as if its process had been killed: its connections break, and nothing is answered, handed over or
     * written any more. What it had written stays. It may be paused.
     */
    public void kill(int id) {
        RunningServer server = started(id);
        running.remove(id);
        paused.remove(id);
        server.kill();
        links.breakConnections(id);
    }

    /**
     * Ends a server in order; a leader transfers its leadership first.
     *
     * @throws IllegalStateException if it is paused: it would not notice the request
     */
    public void stop(int id) {
        RunningServer server = started(id);
        if (paused.contains(id)) {
            throw new IllegalStateException("server " + id + " is paused; resume it before it is stopped, or kill it");
        }
        running.remove(id);
        server.stop();
        links.breakConnections(id);
    }

    /**
     * Makes a server stand still, as SIGSTOP does with a process: its connections stay open and new ones can be made,
     * but it is silent; its clocks go on. In this JVM, each of its threads first finishes its current task, and a
     * thread of the test may still call the {@link #server} itself.
     *
     * @throws IllegalStateException if it is paused, or does not run
     * @throws UnsupportedOperationException if it is a process, and the system has no POSIX shell
     */
    public void pause(int id) {
        RunningServer server = alive(id);
        if (paused.contains(id)) {
            throw new IllegalStateException("server " + id + " is paused already");
        }
        server.pause();
        paused.add(id);
    }

    /**
     * Resumes a paused server where it stood. For a moment it may still act as the leader.
     *
     * @throws IllegalStateException if it is not paused
     */
    public void resume(int id) {
        RunningServer server = started(id);
        if (!paused.remove(id)) {
            throw new IllegalStateException("server " + id + " is not paused");
        }
        server.resume();
    }

    /**
     * Starts a server that was killed or stopped, or ended by itself, and returns when it listens; see
     * {@link #awaitServing}.
     */
    public void restart(int id) {
        member(id);
        RunningServer before = running.get(id);
        if (before != null) {
            if (before.ending().isEmpty()) {
                throw new IllegalStateException("server " + id + " runs");
            }
            kill(id);
        }
        launch(id);
        await("server " + id + " to listen", () -> alive(id).isListening());
    }

    /**
     * Waits until a server serves its clients.
     *
     * @throws IllegalStateException if it is paused, or does not run
     */
    public void awaitServing(int id) {
        if (paused.contains(id)) {
            throw new IllegalStateException("server " + id + " is paused and serves no client");
        }
        await(
                "server " + id + " to serve",
                () -> alive(id).status().filter(ServerStatus::serves).isPresent());
    }

    /** Cuts the link between two servers, in both directions, until {@link #heal}. */
    public void cut(int one, int other) {
        cutOneWay(one, other);
        cutOneWay(other, one);
    }

    /** Cuts the link from one server to the other; the other direction remains. */
    public void cutOneWay(int from, int to) {
        links.cut(member(from).id(), member(to).id());
    }

    /** Cuts a server off from all others. Its clients still reach it. */
    public void isolate(int id) {
        links.isolate(member(id).id());
    }

    /** Undoes the cuts between two servers. */
    public void heal(int one, int other) {
        links.heal(member(one).id(), member(other).id());
        links.heal(other, one);
    }

    /** Undoes all cuts. */
    public void healAll() {
        links.healAll();
    }

    /**
     * Undoes what was done to the servers: heals all cuts, resumes those that are paused, starts those that do not run,
     * and waits until all serve.
     */
    public void repair() {
        healAll();
        List.copyOf(paused).forEach(this::resume);
        members.keySet().stream()
                .filter(id -> !running.containsKey(id) || started(id).ending().isPresent())
                .forEach(this::restart);
        members.keySet().forEach(this::awaitServing);
    }

    private EnsembleMember member(int id) {
        return Optional.ofNullable(members.get(id))
                .orElseThrow(
                        () -> new IllegalArgumentException("there is no server " + id + ", only " + members.keySet()));
    }

    private void await(String what, BooleanSupplier condition) {
        polls.await(what, condition, this);
    }

    /** Ends all servers at once, paused or not, and deletes their files if they were temporary. Idempotent. */
    @Override
    public void close() {
        List.copyOf(running.keySet()).forEach(this::kill);
        links.close();
        files.close();
    }

    @Override
    public String toString() {
        return running.entrySet().stream()
                .map(entry -> entry.getKey() + " " + (paused.contains(entry.getKey()) ? "is paused" : entry.getValue()))
                .collect(Collectors.joining("; ", "ConclaveEnsemble[", "]"));
    }
}
