package io.conclave.consensus.core;

import static io.conclave.consensus.core.Invariants.check;

import io.conclave.consensus.core.PeerMessage.SnapshotChunk;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntryKind;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** The shell around one core of the simulation: its disk, what it applies, its crashes. */
final class SimulatedMember {
    /** Ends a turn at a place where the process dies. */
    private static final class Crash extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    final int id;
    private final SimulatedCluster cluster;
    private final SplittableRandom random;
    DurableState disk;

    @Nullable
    Core core;

    boolean paused;
    private final Deque<Runnable> inputs = new ArrayDeque<>();
    private final Deque<LogBatch> unwritten = new ArrayDeque<>();
    private boolean writing;
    private long commitIndex;
    private long appliedIndex;
    private long wakeAtMs = Long.MAX_VALUE;
    private int run;

    /** What was installed last is still being read. */
    private boolean reading;

    private int installs;

    /** How long that takes; on its own, so that all else is as in a run without. */
    private final SplittableRandom loading;

    /** Steps of carrying out until the process dies; below zero for never. */
    int stepsToCrash = -1;
    /** Those steps are counted from the next change of vote or term. */
    boolean crashesWhenVoting;
    /** The member's disk takes up to so long for a write; 0 for writing at once. */
    int writeMs;
    /** A member has a new link to it, and nothing was written since. */
    boolean isLinkedAnew;
    /** The read indexes that this run has asked for. */
    final Set<Long> asked = new HashSet<>();

    SimulatedMember(
            int id, SimulatedCluster cluster, SplittableRandom random, ClusterConfiguration bootstrap, long directory) {
        this.id = id;
        this.cluster = cluster;
        this.random = random;
        this.loading = new SplittableRandom(directory);
        disk = new DurableState(directory, bootstrap);
    }

    boolean isUp() {
        return core != null;
    }

    int run() {
        return run;
    }

    void start() {
        run++;
        reading = false;
        CoreStart start = disk.start(id);
        core = new Core(cluster.options, start, random.split(), cluster.nowMs, cluster.mistake.rules());
        commitIndex = start.baseIndex();
        appliedIndex = start.baseIndex();
        cluster.started(this);
        turn(() -> {});
    }

    void crash() {
        cluster.trace(() -> "crashes: " + this);
        core = null;
        paused = false;
        inputs.clear();
        unwritten.clear();
        writing = false;
        run++;
        wakeAtMs = Long.MAX_VALUE;
        stepsToCrash = -1;
        cluster.gone(asked);
        asked.clear();
        cluster.crashed(this);
    }

    void tear(int batches) {
        check(core == null, () -> "only a dead member's log is torn");
        disk.tear(batches);
        cluster.trace(() -> id + " is torn to " + disk.lastIndex());
    }

    void wipe(long newDirectory) {
        check(core == null, () -> "only a dead member's directory is wiped");
        disk = new DurableState(newDirectory, ClusterConfiguration.NONE);
        cluster.trace(() -> id + " is wiped, now " + newDirectory);
    }

    void resume() {
        paused = false;
        turn(() -> {});
    }

    /** One input, and what follows from it; later if the process is paused. */
    void turn(Runnable input) {
        if (core == null) {
            return;
        }
        inputs.add(input);
        if (paused) {
            return;
        }
        try {
            while (!inputs.isEmpty()) {
                inputs.remove().run();
                if (random.nextInt(4) == 0) {
                    carryOut();
                }
            }
            if (!cluster.schedule.ticksWhenDue || cluster.nowMs >= core.nextTickMs()) {
                core.tick(cluster.nowMs, cluster.wallMs());
            }
            carryOut();
            schedule();
        } catch (Crash e) {
            crash();
        }
    }

    private void schedule() {
        long nextMs = Math.max(core.nextTickMs(), cluster.nowMs + 1);
        if (nextMs < wakeAtMs || wakeAtMs <= cluster.nowMs) {
            wakeAtMs = nextMs;
            int scheduledIn = run;
            if (nextMs < Long.MAX_VALUE) {
                cluster.at(nextMs, () -> {
                    if (scheduledIn == run && wakeAtMs == nextMs) {
                        wakeAtMs = Long.MAX_VALUE;
                        turn(() -> {});
                    }
                });
            }
        }
    }

    private void carryOut() {
        CoreOutput output;
        do {
            output = core.take();
            carryOut(output);
        } while (!output.isEmpty());
        apply();
    }

    private void carryOut(CoreOutput output) {
        CoreOutput.Vote vote = output.vote();
        crashesWhenVoting &= vote == null;
        if (vote != null && vote.votedFor() != 0) {
            cluster.moment(Moment.VOTES, this);
        }
        if (output.role() == CoreRole.LEADER) {
            cluster.moment(Moment.LEADS, this);
        }
        step();
        if (vote != null && cluster.mistake != Mistake.VOTE_NOT_PERSISTED) {
            persist(vote);
        }
        step();
        for (CoreOutput.Envelope envelope : output.messages()) {
            cluster.send(this, envelope.to(), envelope.message());
        }
        step();
        if (vote != null) {
            persist(vote);
        }
        if (output.caughtUp()) {
            disk.torn = false;
            cluster.checkSurvival();
            cluster.moment(Moment.CAUGHT_UP, this);
        }
        if (output.cutAfter() >= 0) {
            unwritten.removeIf(batch -> batch.firstIndex() > output.cutAfter());
            disk.cutAfter(output.cutAfter());
        }
        step();
        commit(core.commitIndex());
        if (output.role() == CoreRole.LEADER) {
            check(!reading, () -> "member " + id + " leads, and has no state yet");
            cluster.trace(() -> "leads: " + this);
            cluster.invariants.leads(id, core.term(), window());
        }
        write(output.append());
        for (CoreOutput.ReadIndex answer : output.readIndexes()) {
            cluster.invariants.readIndexAnswered(id, answer.id(), answer.index());
            cluster.readIndexAnswered(answer.id());
        }
        for (CoreOutput.Note note : output.notes()) {
            cluster.invariants.noteGiven(ByteBuffer.wrap(note.note()).getLong());
        }
        output.snapshotsWanted().forEach(this::sendSnapshot);
        output.chunks().forEach(this::receiveChunk);
    }

    private void step() {
        if (stepsToCrash >= 0 && !crashesWhenVoting && stepsToCrash-- == 0) {
            throw new Crash();
        }
    }

    private void persist(CoreOutput.Vote vote) {
        disk.term = vote.term();
        disk.votedFor = vote.votedFor();
        cluster.trace(() -> id + " votes for " + vote.votedFor() + " in " + vote.term());
    }

    private LogWindow window() {
        return core.raft.log.window;
    }

    private void write(List<LogBatch> append) {
        for (LogBatch batch : append) {
            if (batch.entries().get(0).kind() == LogEntryKind.CONFIGURATION) {
                cluster.trace(() -> id + " has " + batch + ": " + this);
                cluster.moment(Moment.CONFIGURED, this);
            }
            cluster.invariants.appended(batch);
            unwritten.add(batch);
        }
        if (unwritten.isEmpty() || writing) {
            return;
        }
        if (cluster.mistake == Mistake.ACKNOWLEDGED_BEFORE_DURABLE) {
            core.durable(
                    cluster.nowMs,
                    unwritten.getLast().lastIndex(),
                    unwritten.getLast().term());
        }
        if (writeMs == 0) {
            step();
            writeAll();
        } else {
            writing = true;
            int writingIn = run;
            cluster.at(cluster.nowMs + 1 + random.nextInt(writeMs), () -> {
                if (run == writingIn && core != null) {
                    writing = false;
                    turn(this::writeAll);
                }
            });
        }
    }

    private void writeAll() {
        if (unwritten.isEmpty()) {
            return;
        }
        int some = random.nextInt(8) == 0 ? 1 + random.nextInt(unwritten.size()) : unwritten.size();
        LogBatch last = unwritten.getFirst();
        for (int i = 0; i < some; i++) {
            last = unwritten.removeFirst();
            disk.append(last, Math.min(commitIndex, last.lastIndex()));
            step();
        }
        core.durable(cluster.nowMs, last.lastIndex(), last.term());
        cluster.moment(isLinkedAnew ? Moment.ANSWERS_ANEW : Moment.WRITES, this);
        isLinkedAnew = false;
        if (!unwritten.isEmpty()) {
            write(List.of());
        }
    }

    private void commit(long newCommitIndex) {
        if (newCommitIndex == commitIndex) {
            return;
        }
        check(newCommitIndex > commitIndex, () -> "member " + id + "'s commit index decreases");
        boolean news = false;
        for (LogBatch batch : batches(core, commitIndex, newCommitIndex)) {
            news |= cluster.invariants.committed(id, core.term(), batch);
            commitIndex = batch.lastIndex();
        }
        check(
                commitIndex == newCommitIndex,
                () -> "member " + id + " has not got what is committed: " + newCommitIndex);
        if (news) {
            cluster.checkSurvival();
        }
    }

    /** Batches behind an index that is applied or more, up to another. */
    static List<LogBatch> batches(Core core, long after, long upTo) {
        return core.raft.log.window.after(after, Long.MAX_VALUE).stream()
                .takeWhile(batch -> batch.lastIndex() <= upTo)
                .toList();
    }

    private void apply() {
        if (!core.mayApply()) {
            return;
        }
        long upTo = Math.min(commitIndex, disk.lastIndex());
        if (upTo > appliedIndex && random.nextInt(8) != 0) {
            List<LogBatch> batches = batches(core, appliedIndex, upTo);
            if (!batches.isEmpty()) {
                check(!reading, () -> "member " + id + " applies, and has no state yet");
                appliedIndex = batches.get(batches.size() - 1).lastIndex();
                core.applied(appliedIndex);
            }
        }
        if (random.nextInt(200) == 0) {
            disk.compact(appliedIndex);
        }
    }

    private void sendSnapshot(int to) {
        disk.compact(Math.max(disk.base().index(), appliedIndex - random.nextInt(3)));
        DurableState.Base base = disk.base();
        if (base.index() == 0) {
            core.snapshotSending(cluster.nowMs, to, 0, true);
            return;
        }
        core.snapshotSending(cluster.nowMs, to, base.index(), false);
        cluster.snapshots.put(base.index(), base);
        cluster.send(this, to, new SnapshotChunk(core.term(), base.index(), base.term(), 1, 0, new byte[1]));
    }

    private void receiveChunk(CoreOutput.ReceivedChunk received) {
        SnapshotChunk chunk = received.chunk();
        int receivedIn = run;
        cluster.at(cluster.nowMs + 1 + random.nextInt(60), () -> {
            if (run == receivedIn) {
                turn(() -> install(chunk));
            }
        });
    }

    private void install(SnapshotChunk chunk) {
        boolean wanted = core.wantsSnapshot(chunk.lastIndex(), chunk.lastTerm()) && core.role() != CoreRole.LEADER;
        if (!wanted) {
            return;
        }
        DurableState.Base base = cluster.snapshots.get(chunk.lastIndex());
        cluster.invariants.snapshotInstalled(id, chunk.lastIndex(), chunk.lastTerm());
        carryOut();
        disk.install(base);
        unwritten.clear();
        step();
        core.installed(
                cluster.nowMs,
                base.index(),
                base.term(),
                base.timestampMs(),
                base.configuration(),
                base.configurationIndex());
        commitIndex = base.index();
        appliedIndex = base.index();
        read();
        cluster.checkSurvival();
    }

    /** The state of what is installed; a while later, if nothing else is installed by then. */
    private void read() {
        reading = true;
        core.hasState(cluster.nowMs, false);
        int installedAs = ++installs;
        int readIn = run;
        int mostMs = loading.nextInt(3) == 0 ? 3_000 : 60;
        cluster.at(cluster.nowMs + 1 + loading.nextInt(mostMs), () -> {
            if (run == readIn && installs == installedAs) {
                turn(() -> {
                    reading = false;
                    core.hasState(cluster.nowMs, true);
                });
            }
        });
    }

    @Override
    public String toString() {
        if (core == null) {
            return id + " down";
        }
        CoreStatus status = core.status();
        ClusterConfiguration configuration = status.configuration();
        return id + " " + status.role() + (status.provisional() ? " provisional" : "") + " term " + status.term()
                + " leader "
                + status.leader() + " commit " + status.commitIndex() + " last " + status.lastIndex() + " durable "
                + disk.lastIndex() + " members " + configuration.members().keySet() + " voters "
                + configuration.voters() + configuration.outgoing()
                + (status.configurationCommitted() ? "" : " uncommitted") + "\n";
    }
}
