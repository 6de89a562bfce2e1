package io.conclave.simulation;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.LogException;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.disk.PowerFailure;
import io.conclave.consensus.disk.SimulatedDisk;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.Member;
import io.conclave.consensus.member.MemberLoop;
import io.conclave.consensus.member.PeerLinks;
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

/**
 * A machine with a disk and clocks, on which the process of a server lives, dies and lives again.
 *
 * <p>The process has a thread for the log and its links, which works off what has arrived in turns, and event loops for
 * its clients. They run at any time relative to each other, one task at a time. While the log's thread waits for the
 * disk, nothing else happens on it, and what it does afterwards in the same turn takes effect later.
 */
final class ServerMachine implements SimulatedNetwork.Node {
    private static final int EVENT_LOOPS = 2;

    /** One life of the process. */
    private final class Life {
        final Queue<Runnable> inbox = new ArrayDeque<>();
        final List<SimulatedChannel> channels = new ArrayList<>();
        final Set<Integer> wanted = new TreeSet<>();
        final SimulatedLoops loops;
        final SimulatedServer server;
        final MemberLoop loop;
        final ReplicatedLog log;
        UUID clusterId = new UUID(0, 0);
        long directory;
        boolean turnPlanned;
        boolean inTurn;
        boolean closing;
        long busyUntilUs;
        long timerUs;
        int connections;

        Life(LogOptions options) {
            wanted.addAll(options.members().keySet());
            List<Executor> executors = new ArrayList<>();
            for (int i = 0; i < EVENT_LOOPS; i++) {
                executors.add(new LoopExecutor(this));
            }
            loops = new SimulatedLoops(executors);
            SlowDisk slow = new SlowDisk(world.mistake().disk(disk), this::syncing);
            loop = new MemberLoop(
                    options,
                    toMember -> FileStore.open(slow, options, toMember::accept),
                    world.mistake().cores(),
                    new Links(this),
                    random::nextLong,
                    () -> planTurn(this, random.nextInt(60)));
            log = world.mistake().log(new MemberLog(loop), random);
            server = new SimulatedServer(id, log, new LifeTime(this), loops, random, leases -> world.mistake()
                    .leases(leases));
        }

        boolean isOver() {
            return life != this;
        }

        /** The disk makes the log's thread wait. */
        void syncing() {
            if (inTurn) {
                busyUntilUs = Math.max(busyUntilUs, time.nowUs()) + world.diskDelayUs(id);
            }
        }

        /** How much later than now the log's thread does what it does. */
        long lagUs() {
            return inTurn ? Math.max(0, busyUntilUs - time.nowUs()) : 0;
        }
    }

    final int id;
    private final Simulation world;
    private final VirtualTime time;
    private final SimulatedNetwork network;
    private final Random random;
    private final MachineClock clock;
    private SimulatedDisk disk;
    private Life life;
    private long pausedUntilUs;
    private boolean damaged;
    private boolean stopped;

    ServerMachine(int id, Simulation world, SimulatedNetwork network, Random seeds) {
        this.id = id;
        this.world = world;
        this.time = world.time;
        this.network = network;
        this.random = new Random(seeds.nextLong());
        this.disk = new SimulatedDisk(seeds.nextLong());
        this.clock = new MachineClock(this::presentUs, random.nextInt(1_000_000_000));
        network.add(id, this);
    }

    /** As the process sees it: what a turn of the log's thread does behind a sync happens when that is done. */
    private long presentUs() {
        return time.nowUs() + (life == null ? 0 : life.lagUs());
    }

    MachineClock clock() {
        return clock;
    }

    SimulatedDisk disk() {
        return disk;
    }

    boolean isAlive() {
        return life != null;
    }

    boolean isClosing() {
        return life != null && life.closing;
    }

    /** Whether the log was damaged and nobody has done anything about it yet. */
    boolean isStopped() {
        return stopped;
    }

    /** Whether its disk may have lost what it had promised to keep. */
    boolean isDamaged() {
        return damaged;
    }

    void damaged() {
        damaged = true;
    }

    ReplicatedLog log() {
        return life.log;
    }

    SimulatedServer server() {
        return life.server;
    }

    // ---- life and death

    void start(Map<Integer, Member> members, boolean birth) {
        if (life != null || stopped) {
            throw new IllegalStateException("machine " + id);
        }
        LogOptions options = LogOptions.builder(
                        clock::wallMs, clock::monotonicMs, this::inBackground, this::afterMs, this::failed)
                .memberId(id)
                .members(members)
                .birth(birth)
                .clusterIds(() -> new UUID(7, 7))
                .directoryIds(random::nextLong)
                .featureLevel(1)
                .segmentBytes(world.segmentBytes())
                .maxEntryBytes(8 * 1024)
                .maxBatchBytes(24 * 1024)
                .maxQueuedBytes(256 * 1024)
                .snapshotEveryEntries(world.snapshotEveryEntries())
                .snapshotsKept(2)
                .build();
        Life made = new Life(options);
        life = made;
        world.trace.event("start", id, birth ? 1 : 0, "");
        StateMachine machine = world.truth.witnessed(this, made.server.replica());
        LogListener listener = world.truth.witnessed(this, made.log, made.server.events());
        inTurn(made, () -> made.loop.start(machine, listener));
        if (made.isOver()) {
            return;
        }
        made.loop.ready().whenComplete((nothing, cause) -> {
            if (cause != null && !made.isOver()) {
                failed(cause instanceof LogException known ? known : new LogException(cause.toString(), cause));
            }
        });
        if (!made.isOver()) {
            made.server.opened();
            planTurn(made, 0);
        }
    }

    /** Ends the process here and now; the machine lives on. */
    void kill() {
        end(1_000 + random.nextInt(3_000));
        disk.kill();
    }

    /** Ends the machine: what its disk was not told to keep may be lost, and nobody is told. */
    void losePower() {
        end(10_000 + random.nextInt(3_000_000));
        disk.losePower();
    }

    /** Empties the directory of an ended process. */
    void wipe() {
        end(1_000);
        disk = new SimulatedDisk(random.nextLong());
        stopped = false;
    }

    private void end(int noticedUs) {
        Life ending = life;
        life = null;
        pausedUntilUs = 0;
        if (ending != null) {
            world.trace.event("end", id, 0, "");
            network.resetAll(id);
            world.clients.ended(id, noticedUs);
        }
    }

    /** Closes the server as an operator does; its process ends by itself. */
    void close() {
        Life closing = life;
        closing.closing = true;
        closing.server.closing();
        closing.loop.beginClosing();
        closing.loop.ended().whenComplete((nothing, cause) -> time.after(0, inThisLife(closing, this::kill)));
    }

    /** The process stands still for a while; what arrives waits. */
    void pause(long durationUs) {
        pausedUntilUs = time.nowUs() + durationUs;
    }

    /** A full disk is no excuse: here nobody begins a cluster on one, and everybody else starts, waits and refuses. */
    private void failed(LogException cause) {
        Life failed = life;
        if (failed == null) {
            return;
        }
        if (disk.hasFailed() || isCausedBy(cause, PowerFailure.class)) {
            losePower();
        } else if (damaged) {
            world.trace.fault("damage found, server stopped", id, 0);
            end(1_000);
            disk.kill();
            stopped = true;
        } else if (isCausedBy(cause, Violation.class)) {
            world.violated(violationOf(cause));
        } else {
            String kind = isCausedBy(cause, DamagedLogException.class) ? "sees damage that nobody did" : "fails";
            world.violated(new Violation("the log of server " + id + " " + kind + ": " + cause.getMessage(), cause));
        }
    }

    private static Violation violationOf(Throwable cause) {
        return cause instanceof Violation violation ? violation : violationOf(cause.getCause());
    }

    private static boolean isCausedBy(Throwable cause, Class<?> kind) {
        return cause != null && (kind.isInstance(cause) || isCausedBy(cause.getCause(), kind));
    }

    // ---- the process

    /** What happens on the process, if it still lives then, and not while it stands still. */
    private Runnable inThisLife(Life of, Runnable action) {
        return () -> {
            if (of.isOver()) {
                return;
            }
            if (time.nowUs() < pausedUntilUs) {
                time.after(pausedUntilUs - time.nowUs(), inThisLife(of, action));
            } else {
                guarded(of, action);
            }
        };
    }

    private void guarded(Life of, Runnable action) {
        try {
            action.run();
        } catch (PowerFailure e) {
            if (!of.isOver()) {
                losePower();
            }
        }
    }

    private void inBackground(Runnable task) {
        time.after(100 + random.nextInt(20_000), inThisLife(life, task));
    }

    private void afterMs(long delayMs, Runnable action) {
        time.after(clock.realUs(delayMs * 1000.0), inThisLife(life, action));
    }

    // ---- the log's thread

    private void planTurn(Life of, long delayUs) {
        if (!of.turnPlanned && !of.isOver()) {
            of.turnPlanned = true;
            time.after(delayUs, () -> turn(of));
        }
    }

    private void turn(Life of) {
        if (of.isOver()) {
            return;
        }
        long freeUs = Math.max(pausedUntilUs, of.busyUntilUs);
        if (time.nowUs() < freeUs) {
            time.after(freeUs - time.nowUs(), () -> turn(of));
            return;
        }
        of.turnPlanned = false;
        boolean[] worked = {false};
        inTurn(of, () -> {
            for (Runnable next = of.inbox.poll(); next != null && !of.isOver(); next = of.inbox.poll()) {
                next.run();
            }
            worked[0] = !of.isOver() && of.loop.turn();
        });
        if (of.isOver() || of.loop.hasEnded()) {
            return;
        }
        if (worked[0]) {
            planTurn(of, 1 + random.nextInt(5));
        } else {
            sleep(of);
        }
    }

    private void inTurn(Life of, Runnable action) {
        of.inTurn = true;
        try {
            guarded(of, action);
        } finally {
            of.inTurn = false;
        }
    }

    private void sleep(Life of) {
        long dueMs = of.loop.nextTurnMs();
        if (dueMs == Long.MAX_VALUE) {
            return;
        }
        long delayUs = Math.max(100, clock.realUs((dueMs - clock.monotonicMs()) * 1000.0));
        long atUs = time.nowUs() + delayUs;
        if (of.timerUs > time.nowUs() && of.timerUs <= atUs) {
            return;
        }
        of.timerUs = atUs;
        time.after(delayUs, () -> planTurn(of, 0));
    }

    private void happens(Runnable action) {
        Life now = life;
        if (now != null) {
            now.inbox.add(action);
            planTurn(now, random.nextInt(20));
        }
    }

    // ---- the network's view

    @Override
    public boolean isListening() {
        return life != null;
    }

    @Override
    public UUID clusterId() {
        return life.clusterId;
    }

    @Override
    public long directory() {
        return life.directory;
    }

    @Override
    public boolean wants(int other) {
        return life != null && life.wanted.contains(other);
    }

    @Override
    public void linked(int to, UUID clusterId, long directory) {
        Life now = life;
        happens(() -> now.loop.linked(to, clusterId, directory));
    }

    @Override
    public void linkDown(int to) {
        Life now = life;
        happens(() -> now.loop.linkDown(to));
    }

    @Override
    public void inboundLost(int from) {
        Life now = life;
        happens(() -> now.loop.inboundLost(from));
    }

    @Override
    public void arrived(int from, long directory, PeerMessage message) {
        Life now = life;
        happens(() -> now.loop.arrived(from, directory, message));
    }

    private final class Links implements PeerLinks {
        private final Life of;

        Links(Life of) {
            this.of = of;
        }

        @Override
        public void send(int to, PeerMessage message) {
            long lagUs = of.lagUs();
            world.trace.event("send", id, to, message);
            if (lagUs == 0) {
                network.send(id, to, message);
            } else {
                time.after(lagUs, () -> {
                    if (!of.isOver()) {
                        network.send(id, to, message);
                    }
                });
            }
        }

        @Override
        public void flush() {}

        @Override
        public void configured(ClusterConfiguration configuration) {
            of.wanted.addAll(configuration.members().keySet());
        }

        @Override
        public void identify(UUID clusterId, long directory) {
            boolean joined = of.clusterId.getLeastSignificantBits() == 0;
            of.clusterId = clusterId;
            of.directory = directory;
            if (joined) {
                network.comeAgain(id);
            }
        }
    }

    // ---- clients

    /** A client's connection has been accepted; null if there is nobody. */
    ClientEnd accept(String name, SimulatedChannel.Peer peer) {
        Life now = life;
        if (now == null || now.closing) {
            return null;
        }
        SimulatedChannel channel = new SimulatedChannel(name, peer);
        EventLoop eventLoop = now.loops.loop(now.connections++);
        ClientEnd end = new ClientEnd(now, channel, eventLoop);
        eventLoop.execute(() -> {
            channel.pipeline().addLast(now.server.childHandler());
            eventLoop.register((Channel) channel);
        });
        return end;
    }

    /** What a connection's bytes come to. */
    final class ClientEnd {
        private final Life of;
        private final SimulatedChannel channel;
        private final EventLoop eventLoop;

        ClientEnd(Life of, SimulatedChannel channel, EventLoop eventLoop) {
            this.of = of;
            this.channel = channel;
            this.eventLoop = eventLoop;
        }

        boolean isOver() {
            return of.isOver();
        }

        void receive(byte[] bytes) {
            if (!of.isOver()) {
                eventLoop.execute(() -> channel.receive(bytes));
            }
        }

        void end() {
            if (!of.isOver()) {
                eventLoop.execute(channel::end);
            }
        }
    }

    /** One event loop's thread: its tasks in order, when it gets to them. */
    private final class LoopExecutor implements Executor {
        private final Life of;
        private final Queue<Runnable> tasks = new ArrayDeque<>();
        private boolean planned;

        LoopExecutor(Life of) {
            this.of = of;
        }

        @Override
        public void execute(Runnable task) {
            long lagUs = life == of ? of.lagUs() : 0;
            if (lagUs > 0) {
                time.after(lagUs, () -> add(task));
            } else {
                add(task);
            }
        }

        private void add(Runnable task) {
            if (of.isOver()) {
                return;
            }
            tasks.add(task);
            if (!planned) {
                planned = true;
                time.after(random.nextInt(100), inThisLife(of, this::run));
            }
        }

        private void run() {
            planned = false;
            for (Runnable next = tasks.poll(); next != null && !of.isOver(); next = tasks.poll()) {
                next.run();
            }
        }
    }

    private final class LifeTime implements TimeSource {
        private final Life of;

        LifeTime(Life of) {
            this.of = of;
        }

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
            time.after(of.lagUs() + delayUs, inThisLife(of, () -> {
                if (!cancelled[0]) {
                    task.run();
                }
            }));
            return () -> cancelled[0] = true;
        }
    }
}
