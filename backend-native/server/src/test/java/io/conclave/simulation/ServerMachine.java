package io.conclave.simulation;

import io.conclave.consensus.CommittedBatch;
import io.conclave.consensus.CommittedEntry;
import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.LogException;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.WrongDiskException;
import io.conclave.consensus.disk.PowerFailure;
import io.conclave.consensus.disk.SimulatedDisk;
import io.conclave.consensus.ensemble.OfflineLog;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.member.MemberLoop;
import io.conclave.consensus.simulation.JumpingTerms;
import io.conclave.consensus.simulation.SimulatedNetwork;
import io.conclave.consensus.simulation.VirtualTime;
import io.conclave.consensus.simulation.VoteBytes;
import io.conclave.server.SimulatedServer;
import io.conclave.tree.Change;
import io.conclave.tree.ChangeCodec;
import io.conclave.tree.TreeOperation;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * A machine with a disk, clocks and a place in the network, on which the process of a server runs, dies and is started
 * again.
 */
final class ServerMachine implements SimulatedNetwork.Node {
    final int id;
    private final Simulation world;
    private final VirtualTime time;
    private final SimulatedNetwork network;
    private final Random random;
    private final MachineClock clock;
    private SimulatedDisk disk;
    private ServerProcess process;
    private boolean damaged;
    private boolean stopped;

    /** The next batch that creates a node is applied as if it were of another time. */
    private boolean misapplies;

    private boolean wrong;

    /** Its disk was set back to an older state once, so its process may end for that. */
    private boolean restored;

    ServerMachine(int id, Simulation world, SimulatedNetwork network, Random seeds) {
        this.id = id;
        this.world = world;
        this.time = world.time;
        this.network = network;
        this.random = new Random(seeds.nextLong());
        this.disk = new SimulatedDisk(seeds.nextLong());
        this.clock = new MachineClock(
                this::presentUs,
                random.nextInt(1_000_000_000),
                random.nextInt(world.clocksDiffer() ? 1_000_000 : 1000));
        network.add(id, this);
    }

    /** As the process sees it: what a turn of the log's thread does behind a sync happens when that is done. */
    private long presentUs() {
        return time.nowUs() + (process == null ? 0 : process.lagUs());
    }

    MachineClock clock() {
        return clock;
    }

    SimulatedDisk disk() {
        return disk;
    }

    boolean isAlive() {
        return process != null;
    }

    boolean isClosing() {
        return process != null && process.isClosing();
    }

    /** Whether the log was damaged and not repaired yet. */
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

    // ---- a change that is applied wrongly

    /** The next change that leaves a trace is applied as no other member applies it. */
    void misapply() {
        misapplies = true;
    }

    /** If no change has been applied wrongly so far, none will be. */
    void misapplyNoMore() {
        misapplies = false;
    }

    /** Whether its state may be another one than it ought to be. */
    boolean isWrong() {
        return wrong;
    }

    /** Whether its state is wrong, or is about to be. */
    boolean mayBeWrong() {
        return wrong || misapplies;
    }

    /** Another member's wrong state is its own now, and what most members have is not what is right any more. */
    void hasReceivedWrongState() {
        wrong = true;
        world.wrongStateHasSpread();
    }

    /**
     * Wrong are times alone, and not those of nodes that the reaper deletes, so no client sees it: what is to be found
     * is found by the servers.
     */
    CommittedBatch misapplying(CommittedBatch of) {
        if (!misapplies
                || of.entries().stream().noneMatch(ServerMachine::setsTimes)
                || of.entries().stream().anyMatch(Lifetimes::decide)) {
            return of;
        }
        misapplies = false;
        wrong = true;
        world.trace.fault("change applied wrongly", id, of.firstIndex());
        return new CommittedBatch(of.term(), of.firstIndex(), of.lastIndex(), of.timestampMs() + 1, of.entries());
    }

    private static boolean setsTimes(CommittedEntry entry) {
        return entry.kind() == LogEntryKind.APPLICATION
                && ChangeCodec.decode(ByteBuffer.wrap(entry.payload())) instanceof Change.Request request
                && (request.operation() instanceof TreeOperation.Create
                        || request.operation() instanceof TreeOperation.SetData);
    }

    /** The process has found out; it ends soon, and its log is set aside before it begins anew. */
    void stateIsWrong(ServerProcess of) {
        time.after(0, () -> {
            if (process != of) {
                return;
            }
            if (!wrong && !world.hasWrongStateSpread()) {
                world.violated(new Violation("server " + id + " finds its state wrong, and it is right"));
                return;
            }
            world.trace.fault("wrong state found", id, 0);
            end(1_000);
            disk.kill();
            OfflineLog.setAside(disk);
            wrong = false;
            world.losesItsLog(id);
            time.after(random.nextInt(1_000_000), () -> world.bringUp(id));
        });
    }

    ReplicatedLog log() {
        return process.log();
    }

    SimulatedServer server() {
        return process.server();
    }

    // ---- start and end

    void start(Map<Integer, EnsembleMember> members, boolean bootstrap) {
        if (process != null || stopped) {
            throw new IllegalStateException("machine " + id);
        }
        process = new ServerProcess(this, world, network, random, members, bootstrap);
        world.trace.event("start", id, bootstrap ? 1 : 0, "");
        process.begin();
        if (process != null && VoteBytes.isTorn(disk)) {
            world.trace.count("start with a torn tail");
            if (world.machines.values().stream().anyMatch(other -> !other.isAlive())) {
                world.trace.count("start with a torn tail while another one is down");
            }
        }
    }

    /** Ends the process here and now; the machine stays up. */
    void kill() {
        end(1_000 + random.nextInt(3_000));
        disk.kill();
    }

    /** Ends the machine: what its disk was not told to keep may be lost, without notice to any client. */
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

    /** Ends the process, and gives the disk an older content. */
    void restore(Map<String, byte[]> image) {
        wipe();
        image.forEach(disk::put);
        restored = true;
    }

    /** Whether its state is dropped, and the one that it has received not there yet. */
    boolean isReading() {
        return process != null && process.server().replica().isReading();
    }

    /** Whether its process is paused, or waits for its disk. */
    boolean standsStill() {
        return process != null && process.standsStill();
    }

    private void end(int noticedUs) {
        if (isReading()) {
            world.trace.count("end of a process while it reads a state");
        }
        ServerProcess ending = process;
        process = null;
        if (ending != null) {
            ending.end();
            world.trace.event("end", id, 0, "");
            network.resetAll(id);
            world.clients.ended(id, noticedUs);
        }
    }

    /** Closes the server as an operator does; its process ends by itself. */
    void close() {
        process.close();
    }

    /** The process stands still for a while; what arrives waits. */
    void pause(long durationUs) {
        process.pause(durationUs);
    }

    /** A full disk is no excuse: here no member bootstraps a cluster on one, and all others start, wait and refuse. */
    void failed(LogException cause) {
        if (process == null) {
            return;
        }
        if (disk.hasFailed() || isCausedBy(cause, PowerFailure.class)) {
            losePower();
        } else if (disk.hasFailedSync()) {
            syncHasFailed();
        } else if (restored && isCausedBy(cause, WrongDiskException.class)) {
            wentBack(isOutvoted(cause));
        } else if (damaged) {
            world.trace.fault("damage found, server stopped", id, 0);
            end(1_000);
            disk.kill();
            stopped = true;
        } else if (isCausedBy(cause, Violation.class)) {
            world.violated(violationOf(cause));
        } else {
            String kind =
                    isCausedBy(cause, DamagedLogException.class) ? "sees damage that was never injected" : "fails";
            world.violated(new Violation("the log of server " + id + " " + kind + ": " + cause.getMessage(), cause));
        }
    }

    /** What was to be saved counts as saved, and is not: a loss of power takes it, now or later. */
    private void syncHasFailed() {
        world.trace.fault("sync failed, pages are clean", id, 0);
        if (random.nextBoolean()) {
            kill();
        } else {
            losePower();
        }
        time.after(random.nextInt(1_000_000), () -> world.bringUp(id));
    }

    /** The process has found out that its disk went back; its operator does what it says. */
    private void wentBack(boolean outvoted) {
        world.trace.fault("disk found to have gone back", id, 0);
        kill();
        if (!outvoted) {
            OfflineLog.setAside(disk);
        }
        time.after(random.nextInt(1_000_000), () -> world.bringUp(id));
    }

    private static boolean isOutvoted(Throwable cause) {
        return cause instanceof WrongDiskException wrong ? wrong.isOutvoted() : isOutvoted(cause.getCause());
    }

    private static Violation violationOf(Throwable cause) {
        return cause instanceof Violation violation ? violation : violationOf(cause.getCause());
    }

    private static boolean isCausedBy(Throwable cause, Class<?> kind) {
        return cause != null && (kind.isInstance(cause) || isCausedBy(cause.getCause(), kind));
    }

    // ---- the network's view

    @Override
    public boolean isListening() {
        return process != null;
    }

    @Override
    public UUID clusterId() {
        return process.clusterId();
    }

    @Override
    public long directory() {
        return process.directory();
    }

    @Override
    public boolean wants(int other) {
        return process != null && process.wants(other);
    }

    @Override
    public void linked(int to, UUID clusterId, long directory) {
        happens(loop -> loop.linked(to, clusterId, directory));
    }

    @Override
    public void linkDown(int to) {
        happens(loop -> loop.linkDown(to));
    }

    @Override
    public void inboundLost(int from) {
        happens(loop -> loop.inboundLost(from));
    }

    @Override
    public void arrived(int from, long directory, PeerMessage message) {
        if (message instanceof PeerMessage.OfTerm ofTerm && JumpingTerms.isOne(ofTerm.term())) {
            world.trace.fault("term that jumps", from, id);
        }
        happens(loop -> loop.arrived(from, directory, message));
    }

    private void happens(Consumer<MemberLoop> action) {
        if (process != null) {
            process.happens(action);
        }
    }

    /** A client's connection has been accepted; null if there is none. */
    ServerProcess.ClientEnd accept(String name, SimulatedChannel.Peer peer) {
        return process == null || process.isClosing() ? null : process.accept(name, peer);
    }
}
