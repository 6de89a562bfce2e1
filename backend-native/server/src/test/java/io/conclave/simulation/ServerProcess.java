package io.conclave.simulation;

import io.conclave.consensus.LogException;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.disk.PowerFailure;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.member.MemberLoop;
import io.conclave.consensus.member.PeerLinks;
import io.conclave.consensus.simulation.SimulatedLog;
import io.conclave.consensus.simulation.SimulatedNetwork;
import io.conclave.consensus.simulation.VirtualTime;
import io.conclave.consensus.store.FileStore;
import io.conclave.server.SimulatedServer;
import io.conclave.time.TimeSource;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * One run of a server's process on its machine.
 *
 * <p>It has a thread for the log and its links, which works off what has arrived in turns, and event loops for its
 * clients. They run at any time relative to each other, one task at a time. While the log's thread waits for the disk,
 * nothing else happens on it, and what it does afterwards in the same turn takes effect later.
 */
final class ServerProcess {
    private static final int EVENT_LOOPS = 2;

    /** A disk makes a process wait for less as a rule. */
    private static final int STILL_US = 100_000;

    /** How long it may take to read a state. */
    private static final int MAX_READING_US = 3_000_000;

    private final ServerMachine machine;
    private final Simulation world;
    private final VirtualTime time;
    private final SimulatedNetwork network;
    private final Random random;
    private final MachineClock clock;
    private final Queue<Runnable> inbox = new ArrayDeque<>();
    private final Set<Integer> wanted = new TreeSet<>();
    private final SimulatedLoops loops;
    private final SimulatedServer server;
    private final MemberLoop loop;
    private final ReplicatedLog log;
    private boolean running;
    private boolean closing;
    private long pausedUntilUs;
    private UUID clusterId = new UUID(0, 0);
    private long directory;
    private boolean turnPlanned;
    private boolean inTurn;
    private long busyUntilUs;
    private long timerUs;
    private int connections;

    ServerProcess(
            ServerMachine machine,
            Simulation world,
            SimulatedNetwork network,
            Random random,
            Map<Integer, EnsembleMember> members,
            boolean bootstrap) {
        this.machine = machine;
        this.world = world;
        this.time = world.time;
        this.network = network;
        this.random = random;
        this.clock = machine.clock();
        LogOptions options = options(members, bootstrap);
        wanted.addAll(options.members().keySet());
        List<Executor> executors = new ArrayList<>();
        for (int i = 0; i < EVENT_LOOPS; i++) {
            executors.add(new LoopExecutor());
        }
        loops = new SimulatedLoops(executors);
        SlowDisk slow = new SlowDisk(world.mistake().disk(machine.disk()), this::syncing);
        loop = new MemberLoop(
                options,
                toMember -> FileStore.open(slow, options, toMember::accept),
                world.mistake().cores(),
                new Links(),
                random::nextLong,
                () -> planTurn(random.nextInt(60)));
        log = world.mistake().log(new SimulatedLog(loop), random);
        server = new SimulatedServer(
                machine.id,
                log,
                new ProcessTime(),
                loops,
                random,
                leases -> world.mistake().leases(leases),
                world.mistake().wrong(reason -> machine.stateIsWrong(this)));
    }

    private LogOptions options(Map<Integer, EnsembleMember> members, boolean bootstrap) {
        return LogOptions.builder(clock::wallMs, clock::monotonicMs, this::inBackground, this::afterMs, machine::failed)
                .memberId(machine.id)
                .members(members)
                .bootstrap(bootstrap)
                .clusterIds(() -> new UUID(7, 7))
                .directoryIds(random::nextLong)
                .featureLevel(SimulatedServer.FEATURE_LEVEL)
                .segmentBytes(world.segmentBytes())
                .maxEntryBytes(8 * 1024)
                .maxBatchBytes(24 * 1024)
                .maxQueuedBytes(256 * 1024)
                .snapshotEveryEntries(world.snapshotEveryEntries())
                .snapshotCheckEveryMs(world.snapshotCheckEveryMs())
                .snapshotsKept(2)
                .build();
    }

    ReplicatedLog log() {
        return log;
    }

    SimulatedServer server() {
        return server;
    }

    // ---- from its begin to its end

    void begin() {
        running = true;
        StateMachine state = world.truth.observed(machine, server.replica());
        LogListener listener = world.truth.observed(machine, log, server.events());
        inTurn(() -> loop.start(state, listener));
        if (isOver()) {
            return;
        }
        loop.ready().whenComplete((nothing, cause) -> {
            if (cause != null && !isOver()) {
                machine.failed(cause instanceof LogException known ? known : new LogException(cause.toString(), cause));
            }
        });
        if (!isOver()) {
            server.opened();
            planTurn(0);
        }
    }

    boolean isOver() {
        return !running;
    }

    /** Here and now; nothing of it happens any more. */
    void end() {
        running = false;
    }

    /** Ends by itself, as for an operator. */
    void close() {
        closing = true;
        server.closing();
        loop.beginClosing();
        loop.ended().whenComplete((nothing, cause) -> time.after(0, whileItLives(machine::kill)));
    }

    boolean isClosing() {
        return closing;
    }

    /** Stands still for a while; what arrives waits. */
    void pause(long durationUs) {
        pausedUntilUs = time.nowUs() + durationUs;
    }

    boolean standsStill() {
        return time.nowUs() + STILL_US < Math.max(pausedUntilUs, busyUntilUs);
    }

    /** What happens on the process, if it still runs then, and not while it stands still. */
    private Runnable whileItLives(Runnable action) {
        return () -> {
            if (isOver()) {
                return;
            }
            if (time.nowUs() < pausedUntilUs) {
                time.after(pausedUntilUs - time.nowUs(), whileItLives(action));
            } else {
                guarded(action);
            }
        };
    }

    private void guarded(Runnable action) {
        try {
            action.run();
        } catch (PowerFailure e) {
            if (!isOver()) {
                machine.losePower();
            }
        }
    }

    private void inBackground(Runnable task) {
        boolean isLarge = server.replica().isReading() && random.nextInt(3) != 0;
        time.after(100 + random.nextInt(isLarge ? MAX_READING_US : 20_000), whileItLives(task));
    }

    private void afterMs(long delayMs, Runnable action) {
        time.after(clock.realUs(delayMs * 1000.0), whileItLives(action));
    }

    // ---- the log's thread

    /** The disk makes it wait. */
    private void syncing() {
        if (inTurn) {
            busyUntilUs = Math.max(busyUntilUs, time.nowUs()) + world.diskDelayUs(machine.id);
        }
    }

    /** How much later than now it does what it does. */
    long lagUs() {
        return inTurn ? Math.max(0, busyUntilUs - time.nowUs()) : 0;
    }

    /** Something has arrived for it. */
    void happens(Consumer<MemberLoop> action) {
        inbox.add(() -> action.accept(loop));
        planTurn(random.nextInt(20));
    }

    private void planTurn(long delayUs) {
        if (!turnPlanned && !isOver()) {
            turnPlanned = true;
            time.after(delayUs, this::turn);
        }
    }

    private void turn() {
        if (isOver()) {
            return;
        }
        long freeUs = Math.max(pausedUntilUs, busyUntilUs);
        if (time.nowUs() < freeUs) {
            time.after(freeUs - time.nowUs(), this::turn);
            return;
        }
        turnPlanned = false;
        boolean[] worked = {false};
        inTurn(() -> {
            for (Runnable next = inbox.poll(); next != null && !isOver(); next = inbox.poll()) {
                next.run();
            }
            worked[0] = !isOver() && loop.turn();
        });
        if (isOver() || loop.hasEnded()) {
            return;
        }
        if (worked[0]) {
            planTurn(1 + random.nextInt(5));
        } else {
            sleep();
        }
    }

    private void inTurn(Runnable action) {
        inTurn = true;
        try {
            guarded(action);
        } finally {
            inTurn = false;
        }
    }

    private void sleep() {
        long dueMs = loop.nextTurnMs();
        if (dueMs == Long.MAX_VALUE) {
            return;
        }
        long delayUs = Math.max(100, clock.realUs((dueMs - clock.monotonicMs()) * 1000.0));
        long atUs = time.nowUs() + delayUs;
        if (timerUs > time.nowUs() && timerUs <= atUs) {
            return;
        }
        timerUs = atUs;
        time.after(delayUs, () -> planTurn(0));
    }

    // ---- links to the others

    UUID clusterId() {
        return clusterId;
    }

    long directory() {
        return directory;
    }

    boolean wants(int other) {
        return wanted.contains(other);
    }

    private final class Links implements PeerLinks {
        @Override
        public void send(int to, PeerMessage message) {
            long lagUs = lagUs();
            world.trace.event("send", machine.id, to, message);
            if (lagUs == 0) {
                network.send(machine.id, to, message);
            } else {
                time.after(lagUs, () -> {
                    if (!isOver()) {
                        network.send(machine.id, to, message);
                    }
                });
            }
        }

        @Override
        public void flush() {}

        @Override
        public void configured(ClusterConfiguration configuration) {
            wanted.addAll(configuration.members().keySet());
        }

        @Override
        public void identify(UUID newClusterId, long newDirectory) {
            boolean joined = clusterId.getLeastSignificantBits() == 0;
            clusterId = newClusterId;
            directory = newDirectory;
            if (joined) {
                network.comeAgain(machine.id);
            }
        }

        @Override
        public void disconnect(int from, String reason) {
            network.reset(from, machine.id);
        }
    }

    // ---- clients and their event loops

    /** A client's connection has been accepted. */
    ClientEnd accept(String name, SimulatedChannel.Peer peer) {
        SimulatedChannel channel = new SimulatedChannel(name, peer);
        EventLoop eventLoop = loops.loop(connections++);
        ClientEnd end = new ClientEnd(channel, eventLoop);
        eventLoop.execute(() -> {
            channel.pipeline().addLast(server.childHandler());
            eventLoop.register((Channel) channel);
        });
        return end;
    }

    /** What a connection's bytes come to. */
    final class ClientEnd {
        private final SimulatedChannel channel;
        private final EventLoop eventLoop;

        ClientEnd(SimulatedChannel channel, EventLoop eventLoop) {
            this.channel = channel;
            this.eventLoop = eventLoop;
        }

        boolean isOver() {
            return ServerProcess.this.isOver();
        }

        void receive(byte[] bytes) {
            if (!isOver()) {
                eventLoop.execute(() -> channel.receive(bytes));
            }
        }

        void end() {
            if (!isOver()) {
                eventLoop.execute(channel::end);
            }
        }
    }

    /** One event loop's thread: its tasks in order, when it gets to them. */
    private final class LoopExecutor implements Executor {
        private final Queue<Runnable> tasks = new ArrayDeque<>();
        private boolean planned;

        @Override
        public void execute(Runnable task) {
            long lagUs = isOver() ? 0 : lagUs();
            if (lagUs > 0) {
                time.after(lagUs, () -> add(task));
            } else {
                add(task);
            }
        }

        private void add(Runnable task) {
            if (isOver()) {
                return;
            }
            tasks.add(task);
            if (!planned) {
                planned = true;
                time.after(random.nextInt(100), whileItLives(this::run));
            }
        }

        private void run() {
            planned = false;
            for (Runnable next = tasks.poll(); next != null && !isOver(); next = tasks.poll()) {
                next.run();
            }
        }
    }

    private final class ProcessTime implements TimeSource {
        @Override
        public long monotonicNanos() {
            return clock.monotonicNanos();
        }

        @Override
        public long wallMillis() {
            return clock.wallMs();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            boolean[] cancelled = {false};
            long delayUs = clock.realUs(Math.max(0, delay.toNanos()) / 1000.0);
            time.after(lagUs() + delayUs, whileItLives(() -> {
                if (!cancelled[0]) {
                    task.run();
                }
            }));
            return () -> cancelled[0] = true;
        }
    }
}
