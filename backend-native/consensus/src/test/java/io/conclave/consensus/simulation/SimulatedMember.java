package io.conclave.consensus.simulation;

import io.conclave.consensus.LogException;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.LogOptionsBuilder;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.WrongDiskException;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.PowerFailure;
import io.conclave.consensus.disk.SimulatedDisk;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.member.CoreFactory;
import io.conclave.consensus.member.MemberLoop;
import io.conclave.consensus.member.PeerLinks;
import io.conclave.consensus.member.StoreFactory;
import io.conclave.consensus.store.FileStore;
import io.conclave.consensus.store.LogStore;
import io.conclave.consensus.store.MemoryLogStore;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * A machine with a disk on which a member's process runs, dies and is started again. What the process is to do is a
 * {@link StateMachine} and a {@link LogListener}, made anew for each start.
 */
public final class SimulatedMember implements SimulatedNetwork.Node {

    /** What runs on top of the log during one start. */
    public interface Application {
        StateMachine machine();

        LogListener listener();

        /** Whether its state is gone and another one is read. */
        boolean isReading();

        /** The process has ended; nothing of it is called any more. */
        void ended();
    }

    /** One run of the process. */
    private final class ProcessRun {
        final Application application;
        final MemberLoop loop;
        final SimulatedLog log;
        boolean turnAsked;
        boolean closing;
        long timerUs = Long.MAX_VALUE;
        UUID clusterId = new UUID(0, 0);
        long directory;
        Set<Integer> wanted = new TreeSet<>();

        /** What has happened while the process stands still. */
        final Deque<Runnable> waiting = new ArrayDeque<>();

        ProcessRun(LogOptions options, StoreFactory stores, Application application) {
            this.application = application;
            this.loop =
                    new MemberLoop(options, stores, cores, new Links(this), random::nextLong, () -> askForTurn(this));
            this.log = new SimulatedLog(loop);
            wanted.addAll(options.members().keySet());
        }
    }

    private final int id;
    private final VirtualTime time;
    private final SimulatedNetwork network;
    private final Random random;
    private final boolean durable;
    private SimulatedDisk disk;
    private CoreFactory cores = CoreFactory.RAFT;
    private UnaryOperator<Disk> diskMistake = seen -> seen;
    private UnaryOperator<LogStore> storeMistake = used -> used;

    private Predicate<PeerMessage> ignored = message -> false;

    private Optional<ProcessRun> processRun = Optional.empty();
    private long pausedUntilUs;

    /** Its disk was set back to an older state once, so its process may end for that. */
    private boolean restored;

    private boolean setBack;
    private int foundOut;
    private int failedSyncs;

    /** How long it may take to read a state. */
    private int mostReadingUs = 3_000_000;

    /** How fast its clock runs. */
    private double clockRate = 1;

    private long clockOffsetMs;
    private long wallOffsetMs = 1_700_000_000_000L;

    /** @param durable with a disk, or in memory only */
    public SimulatedMember(int id, VirtualTime time, SimulatedNetwork network, Random random, boolean durable) {
        this.id = id;
        this.time = time;
        this.network = network;
        this.random = new Random(random.nextLong());
        this.durable = durable;
        this.disk = new SimulatedDisk(random.nextLong());
        network.add(id, this);
    }

    public int id() {
        return id;
    }

    public SimulatedDisk disk() {
        return disk;
    }

    /** Plants a mistake in the next runs. */
    public void mistaken(CoreFactory newCores, UnaryOperator<Disk> newDiskMistake) {
        cores = newCores;
        diskMistake = newDiskMistake;
    }

    /** Plants a mistake in the stores of the next runs. */
    void mistakenStore(UnaryOperator<LogStore> mistake) {
        storeMistake = mistake;
    }

    /** Plants a mistake: messages that mean nothing to this member. */
    void ignoring(Predicate<PeerMessage> messages) {
        ignored = messages;
    }

    public void clock(double rate, long offsetMs) {
        clockRate = rate;
        clockOffsetMs = offsetMs;
    }

    public void wallOffsetMs(long value) {
        wallOffsetMs = value;
    }

    private long nowMs() {
        return (long) (time.nowUs() * clockRate / 1000) + clockOffsetMs;
    }

    public boolean isAlive() {
        return processRun.isPresent();
    }

    /** The log of the present process. */
    public ReplicatedLog log() {
        return processRun.orElseThrow().log;
    }

    /** Options with the clocks, executors and random numbers of this machine; the rest is the caller's. */
    public LogOptionsBuilder options(Map<Integer, EnsembleMember> members, boolean bootstrap) {
        return LogOptions.builder(
                        () -> wallOffsetMs + time.nowMs(),
                        this::nowMs,
                        this::inBackground,
                        (delayMs, action) -> time.after(delayMs * 1000, inThisLife(action)),
                        this::failed)
                .memberId(id)
                .members(members)
                .bootstrap(bootstrap)
                .clusterIds(() -> new UUID(7, 7))
                .directoryIds(random::nextLong);
    }

    // ---- start and end

    /** Starts the process. */
    public void start(LogOptions options, Application application) {
        if (processRun.isPresent()) {
            throw new IllegalStateException("member " + id + " lives");
        }
        Disk seen = diskMistake.apply(disk);
        StoreFactory stores = durable
                ? toMember -> storeMistake.apply(FileStore.open(seen, options, toMember::accept))
                : toMember -> storeMistake.apply(new MemoryLogStore(options, toMember::accept));
        ProcessRun made = new ProcessRun(options, stores, application);
        processRun = Optional.of(made);
        guarded(made, () -> made.loop.start(application.machine(), application.listener()));
        made.loop.ready().whenComplete((nothing, cause) -> {
            if (cause instanceof LogException known && processRun.isPresent() && processRun.get() == made) {
                failed(known);
            }
        });
    }

    /** Ends the process here and now; the machine stays up. */
    public void kill() {
        end();
        disk.kill();
    }

    /** Ends the machine: what its disk was not told to keep may be lost. */
    public void losePower() {
        end();
        disk.losePower();
    }

    /** Ends the process, and empties its directory. */
    public void wipe() {
        end();
        setBack = false;
        disk = new SimulatedDisk(random.nextLong());
    }

    /** What is on its disk, for {@link #restore}. */
    public Map<String, byte[]> image() {
        return disk.image();
    }

    /** Ends the process, and gives its disk an older content. */
    public void restore(Map<String, byte[]> image) {
        wipe();
        image.forEach(disk::put);
        restored = true;
        setBack = true;
    }

    /** Another member may lie about its disk. */
    void mayBeAccused() {
        restored = true;
    }

    /** Whether its disk has an older content, and its log was not set aside since. */
    boolean isSetBack() {
        return setBack;
    }

    /** Whether it takes no part, since another member claims that its disk was set back. */
    boolean isSuspended() {
        return isAlive() && log().status().noLeaderReason().startsWith("this server takes no part");
    }

    /** How often its process has ended since it found that its disk was set back to an older state. */
    public int foundOut() {
        return foundOut;
    }

    /** How often its process has ended since a sync had failed. */
    int failedSyncs() {
        return failedSyncs;
    }

    private void end() {
        processRun.ifPresent(ended -> ended.application.ended());
        processRun = Optional.empty();
        network.resetAll(id);
        pausedUntilUs = 0;
    }

    /** Whether the present process is about to end by itself. */
    public boolean isClosing() {
        return processRun.isPresent() && processRun.get().closing;
    }

    /** Closes the log; the process ends when it has. */
    public void close() {
        ProcessRun closing = processRun.orElseThrow();
        closing.closing = true;
        closing.loop.beginClosing();
        closing.loop
                .ended()
                .whenComplete((nothing, cause) -> time.after(0, () -> {
                    if (processRun.isPresent() && processRun.get() == closing) {
                        kill();
                    }
                }));
    }

    /** The process stands still for a while; what arrives waits. */
    public void pause(long durationUs) {
        pausedUntilUs = Math.max(pausedUntilUs, time.nowUs() + durationUs); // else what waits would be overtaken
    }

    /** A full disk is no excuse: here no member bootstraps a cluster on one, and all others start, wait and refuse. */
    private void failed(LogException cause) {
        if (disk.hasFailed() || isCausedBy(PowerFailure.class, cause)) {
            time.after(0, inThisLife(this::losePower));
        } else if (disk.hasFailedSync()) {
            failedSyncs++;
            time.after(0, inThisLife(random.nextBoolean() ? this::kill : this::losePower));
        } else if (restored && isCausedBy(WrongDiskException.class, cause)) {
            foundOut++;
            setBack = false; // the next start has no log
            time.after(0, inThisLife(this::kill));
        } else {
            // not from here, where it might be caught
            time.after(0, () -> {
                throw new AssertionError("the log of member " + id + " failed", cause);
            });
        }
    }

    private static boolean isCausedBy(Class<? extends Throwable> type, Throwable cause) {
        for (Throwable each = cause; each != null; each = each.getCause()) {
            if (type.isInstance(each)) {
                return true;
            }
        }
        return false;
    }

    // ---- the thread

    /** What happens on the process, if it still runs then, and not while it stands still. */
    private Runnable inThisLife(Runnable action) {
        Optional<ProcessRun> now = processRun;
        return () -> {
            if (now.isEmpty() || processRun.isEmpty() || processRun.get() != now.get()) {
                return;
            }
            if (time.nowUs() < pausedUntilUs || !now.get().waiting.isEmpty()) {
                if (now.get().waiting.isEmpty()) {
                    time.after(pausedUntilUs - time.nowUs(), () -> goOn(now.get()));
                }
                now.get().waiting.add(action);
            } else {
                guarded(now.get(), action);
            }
        };
    }

    /**
     * What happened while the process stood still, in the order in which it did, also if the pause became longer
     * meanwhile.
     */
    private void goOn(ProcessRun of) {
        while (!of.waiting.isEmpty() && processRun.isPresent() && processRun.get() == of) {
            if (time.nowUs() < pausedUntilUs) {
                time.after(pausedUntilUs - time.nowUs(), () -> goOn(of));
                return;
            }
            guarded(of, of.waiting.peek());
            of.waiting.poll();
        }
    }

    private void guarded(ProcessRun of, Runnable action) {
        try {
            action.run();
        } catch (PowerFailure e) {
            if (processRun.isPresent() && processRun.get() == of) {
                losePower();
            }
        }
    }

    private void inBackground(Runnable task) {
        boolean isLarge = processRun.isPresent() && processRun.get().application.isReading() && random.nextInt(3) != 0;
        time.after(100 + random.nextInt(isLarge ? mostReadingUs : 20_000), inThisLife(task));
    }

    private void askForTurn(ProcessRun of) {
        if (!of.turnAsked) {
            of.turnAsked = true;
            if (processRun.isPresent() && processRun.get() == of) {
                time.after(random.nextInt(100), inThisLife(() -> turn(of)));
            }
        }
    }

    private void turn(ProcessRun of) {
        of.turnAsked = false;
        while (of.loop.turn()) {
            of.turnAsked = false;
        }
        sleep(of);
    }

    private void sleep(ProcessRun of) {
        long dueMs = of.loop.nextTurnMs();
        if (of.loop.hasEnded() || dueMs == Long.MAX_VALUE) {
            return;
        }
        long delayUs = Math.max(100, (long) ((dueMs - nowMs()) * 1000 / clockRate));
        long atUs = time.nowUs() + delayUs;
        if (of.timerUs > time.nowUs() && of.timerUs <= atUs) {
            return;
        }
        of.timerUs = atUs;
        time.after(delayUs, inThisLife(() -> turn(of)));
    }

    private void happens(Runnable action) {
        ProcessRun now = processRun.orElse(null);
        if (now != null) {
            inThisLife(() -> {
                        action.run();
                        askForTurn(now);
                    })
                    .run();
        }
    }

    // ---- the network's view

    @Override
    public boolean isListening() {
        return processRun.isPresent();
    }

    @Override
    public UUID clusterId() {
        return processRun.orElseThrow().clusterId;
    }

    @Override
    public long directory() {
        return processRun.orElseThrow().directory;
    }

    @Override
    public boolean wants(int other) {
        return processRun.isPresent() && processRun.get().wanted.contains(other);
    }

    @Override
    public void linked(int to, UUID clusterId, long directory) {
        happens(() -> processRun.orElseThrow().loop.linked(to, clusterId, directory));
    }

    @Override
    public void linkDown(int to) {
        happens(() -> processRun.orElseThrow().loop.linkDown(to));
    }

    @Override
    public void inboundLost(int from) {
        happens(() -> processRun.orElseThrow().loop.inboundLost(from));
    }

    @Override
    public void arrived(int from, long directory, PeerMessage message) {
        if (!ignored.test(message)) {
            happens(() -> processRun.orElseThrow().loop.arrived(from, directory, message));
        }
    }

    private final class Links implements PeerLinks {
        private final ProcessRun of;

        Links(ProcessRun of) {
            this.of = of;
        }

        @Override
        public void send(int to, PeerMessage message) {
            network.send(id, to, message);
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

        @Override
        public void disconnect(int from, String reason) {
            network.reset(from, id);
        }
    }
}
