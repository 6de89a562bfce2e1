package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.disk.PowerFailure;
import io.conclave.consensus.disk.SimulatedDisk;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.LogState;
import io.conclave.consensus.entry.Origin;
import io.conclave.consensus.entry.Start;
import io.conclave.consensus.store.LogStore.Appended;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * Several starts of one member's store on one simulated disk, all from one seed: appends of several batches, commits,
 * cuts, votes, snapshots of its own and received ones, purges, full disks, kills and power failures at random steps of
 * the disk, recovery included. After each recovery everything that was acknowledged and not cut must be there and
 * nothing else, but for what was under way at the end; and only what was reported as committed may pass for it.
 */
final class CrashSimulation {
    private static final UUID CLUSTER = new UUID(7, 7);
    private static final int SEGMENT_BYTES = 64 * 1024;

    private final Random random;

    /** Of its own, so that the rest is the same without. */
    private final Random decay;

    private final SimulatedDisk disk;
    private final Disk seenByStore;
    private final boolean adopted;
    private final Deque<Runnable> background = new ArrayDeque<>();
    private final Deque<Runnable> delayed = new ArrayDeque<>();
    private boolean inline;
    private long clockMs = 1_000_000;
    private FileStore store;

    /** A sync failed before this start. */
    private boolean syncHasFailed;

    private final Promises promises = new Promises();
    private final CommittedLog cluster = new CommittedLog();
    private long directory;
    private long term;
    private boolean newTermNeeded;

    // ---- this start

    private long applied;

    /** What the store knows to be committed, at least. */
    private long known;

    private IncomingSnapshot incoming;
    private byte[] incomingBytes;
    private HeldSnapshot held = new HeldSnapshot();

    int recoveries;
    int fullDisks;
    int cuts;
    int installs;
    int failedSyncs;

    /** Ends the second start at the n-th step of the disk; 0 for starts that end by chance. */
    int failAt;

    /** Whether {@link #failAt} was reached. */
    boolean failed;

    CrashSimulation(long seed, UnaryOperator<Disk> mistake) {
        random = new Random(seed);
        decay = new Random(seed * 104_729);
        disk = new SimulatedDisk(random.nextLong());
        seenByStore = mistake.apply(disk);
        adopted = random.nextInt(3) == 0;
    }

    void run() throws IOException {
        int starts = 3 + random.nextInt(7);
        for (int start = 0; start < starts; start++) {
            run(start);
        }
        disk.capacity(Long.MAX_VALUE);
        recoverAndCheck();
    }

    private LogOptions options() {
        return LogOptions.builder(
                        () -> clockMs,
                        () -> clockMs,
                        task -> {
                            if (inline) {
                                task.run();
                            } else {
                                background.add(task);
                            }
                        },
                        (delayMs, action) -> delayed.add(action),
                        cause -> {
                            throw new AssertionError("the log failed", cause);
                        })
                .clusterIds(() -> CLUSTER)
                .directoryIds(random::nextLong)
                .bootstrap(!adopted)
                .segmentBytes(SEGMENT_BYTES)
                .maxEntryBytes(8 * 1024)
                .maxBatchBytes(24 * 1024)
                .maxQueuedBytes(256 * 1024)
                .snapshotEveryEntries(10 + random.nextInt(30))
                .snapshotsKept(1 + random.nextInt(3))
                .build();
    }

    private void run(int start) throws IOException {
        background.clear();
        delayed.clear();
        incoming = null;
        held = new HeldSnapshot();
        clockMs += random.nextInt(5_000) - 1_000;
        if (random.nextInt(4) != 0) {
            disk.failAfter(1 + random.nextInt(random.nextBoolean() ? 15 : 200));
        }
        boolean endsSoon = syncHasFailed && decay.nextBoolean();
        syncHasFailed = false;
        if (decay.nextInt(4) == 0) {
            disk.failSyncAfter(1 + decay.nextInt(decay.nextBoolean() ? 6 : 60), decay.nextBoolean() ? "vote" : "");
        }
        if (failAt > 0) {
            disk.failAfter(start == 1 ? failAt : -1);
            disk.failSyncAfter(-1, "");
        }
        boolean clean = false;
        try {
            recoverAndCheck();
            clean = !endsSoon && work();
        } catch (PowerFailure e) {
            // the process ends here
        } catch (DiskFullException e) {
            if (directory != 0) {
                throw e;
            }
            disk.capacity(Long.MAX_VALUE); // nor does an empty directory join on one
        } catch (IOException e) {
            if (!disk.hasFailedSync()) {
                throw e;
            }
        } catch (LogException e) {
            if (e.getCause() instanceof DiskFullException && promises.log().lastIndex() == 0) {
                disk.capacity(Long.MAX_VALUE); // a cluster does not begin on a full disk
            } else if (!disk.hasFailed() && !disk.hasFailedSync()) {
                throw e;
            }
        }
        failed |= disk.hasFailed();
        syncHasFailed = disk.hasFailedSync();
        failedSyncs += syncHasFailed ? 1 : 0;
        if (!clean) {
            promises.endedUnclosed();
        }
        if (random.nextInt(3) == 0 || (syncHasFailed && decay.nextBoolean())) {
            disk.kill();
        } else {
            disk.losePower();
            // only what is on the disk now is certainly there
            if (promises.isInDoubt() && isTorn()) {
                promises.foundTorn();
            }
        }
    }

    // ---- recovery

    private void open() throws IOException {
        store = FileStore.open(seenByStore, options(), Runnable::run);
        if (!store.isMember()) {
            assertTrue(adopted && directory == 0, "the directory was forgotten");
            assertEquals(0, store.directory());
            store.adopt(CLUSTER);
        }
        assertNotEquals(0, store.directory());
        assertTrue(directory == 0 || directory == store.directory(), "another directory");
        assertEquals(CLUSTER, store.clusterId());
        assertEquals(!adopted, store.isBootstrappedHere());
        directory = store.directory();
    }

    private void recoverAndCheck() throws IOException {
        recoveries++;
        inline = true;
        open();
        Replay replay = new Replay();
        Recovered recovered = store.recover(replay);
        inline = false;
        if (promises.check(replay, recovered, cluster.states())) {
            snapshotInstalled();
        }
        cluster.recoveredUpTo(promises.log().lastIndex());
        newTermNeeded = true;
        NothingBehindTheEnd.check(disk, CLUSTER);
        applied = replay.lastIndex();
        known = applied;
    }

    /** What a recovery of these bytes would say. */
    private boolean isTorn() {
        SimulatedDisk copy = new SimulatedDisk(1);
        disk.list().forEach(name -> copy.put(name, disk.bytes(name)));
        inline = true;
        try {
            FileStore other = FileStore.open(copy, options(), Runnable::run);
            return other.isMember() && other.recover(new Replay()).cut();
        } catch (IOException | LogException e) {
            return false;
        } finally {
            inline = false;
        }
    }

    // ---- work

    /** Returns whether the log was closed cleanly. */
    private boolean work() throws IOException {
        int steps = random.nextInt(random.nextBoolean() ? 60 : 200);
        for (int i = 0; i < steps; i++) {
            switch (random.nextInt(24)) {
                case 0 -> limitDisk();
                case 1 -> runOne(delayed);
                case 2, 3, 4 -> runOne(background);
                case 5 -> clockMs += random.nextInt(100) - 30;
                case 6 -> vote(term + random.nextInt(2));
                case 7 -> cut();
                case 8, 9, 10, 11 -> commit();
                case 12, 13 -> apply();
                case 14 -> store.snapshotSoon();
                case 15 -> caughtUp();
                case 16 -> held.holdOrCheck(store, cluster);
                case 17, 18 -> receive();
                default -> append();
            }
            if (cluster.isSnapshotAhead() && random.nextInt(3) == 0) {
                receive();
            }
        }
        if (random.nextInt(3) == 0) {
            close();
            return true;
        }
        return false;
    }

    private void limitDisk() {
        boolean free = random.nextBoolean();
        disk.capacity(free ? Long.MAX_VALUE : disk.used() + random.nextInt(2 * SEGMENT_BYTES));
    }

    private static void runOne(Deque<Runnable> tasks) {
        if (!tasks.isEmpty()) {
            tasks.poll().run();
        }
    }

    private void vote(long inTerm) throws IOException {
        Recovered vote = promises.vote();
        int member = inTerm == vote.term() && vote.votedFor() != 0 ? vote.votedFor() : random.nextInt(4);
        promises.voting(inTerm, member);
        store.vote(inTerm, member);
        promises.voted();
        term = Math.max(term, inTerm);
    }

    private void caughtUp() throws IOException {
        promises.catchingUp();
        store.caughtUp();
        promises.caughtUp();
    }

    private void append() throws IOException {
        List<LogBatch> batches = nextBatches();
        long last = batches.get(batches.size() - 1).lastIndex();
        boolean allCommitted = cluster.isAhead() || (hasAllCommitted() && random.nextInt(6) == 0);
        long commitIndex = cluster.index();
        if (allCommitted) {
            batches.forEach(cluster::commit);
            if (!cluster.isAhead()) {
                cluster.sendAhead(batches);
            }
            commitIndex = last;
        } else if (random.nextBoolean()) {
            commitIndex = random.nextLong(cluster.index() + 1);
        }
        promises.appending(batches, commitIndex);
        Appended outcome = store.append(batches, commitIndex);
        promises.appended(batches, outcome);
        if (outcome == Appended.DONE) {
            known = Math.max(known, commitIndex);
            cluster.got(batches);
        } else {
            fullDisks += outcome == Appended.FULL ? 1 : 0;
        }
    }

    private boolean hasAllCommitted() {
        return !cluster.isSnapshotAhead() && cluster.index() == promises.log().lastIndex();
    }

    private List<LogBatch> nextBatches() throws IOException {
        if (cluster.isAhead()) {
            List<LogBatch> next = cluster.ahead();
            return next.subList(0, 1 + random.nextInt(next.size()));
        }
        if (newTermNeeded || random.nextInt(20) == 0) {
            vote(Math.max(term, promises.vote().term()) + 1);
            newTermNeeded = false;
        }
        List<LogBatch> batches = new ArrayList<>();
        long index = promises.log().lastIndex() + 1;
        int count = random.nextInt(3) == 0 ? 1 + random.nextInt(6) : 1;
        for (int i = 0; i < count; i++) {
            LogBatch batch = new LogBatch(
                    term, index, clockMs, entries(term > promises.log().lastTerm() && i == 0));
            batches.add(batch);
            index = batch.lastIndex() + 1;
        }
        return batches;
    }

    private List<LogEntry> entries(boolean firstOfTerm) {
        if (firstOfTerm) {
            return List.of(new LogEntry(LogEntryKind.TERM, Origin.NONE, new byte[0]));
        }
        List<LogEntry> entries = new ArrayList<>();
        int count = 1 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            byte[] payload = new byte[random.nextInt(4) == 0 ? random.nextInt(8_000) : random.nextInt(900)];
            random.nextBytes(payload);
            entries.add(new LogEntry(
                    LogEntryKind.APPLICATION, new Origin(1 + random.nextInt(3), random.nextInt(9), i), payload));
        }
        return entries;
    }

    /** More of the log is committed; the store hears of it later. */
    private void commit() {
        if (cluster.isSnapshotAhead() || cluster.isAhead()) {
            return;
        }
        List<LogBatch> open = promises.log().behind(cluster.index());
        int count = open.isEmpty() ? 0 : random.nextInt(open.size() + 1);
        open.subList(0, count).forEach(cluster::commit);
    }

    private void apply() {
        List<Long> ends = promises.log().ends().stream()
                .filter(end -> end <= cluster.index() && end > applied)
                .toList();
        if (ends.isEmpty()) {
            return;
        }
        applied = ends.get(random.nextInt(ends.size()));
        promises.told(applied);
        known = Math.max(known, applied);
        long state = cluster.state(applied);
        long termThere = promises.log().batches().stream()
                .filter(batch -> batch.lastIndex() == applied)
                .findFirst()
                .orElseThrow()
                .term();
        store.applied(position(applied, termThere), () -> Replay.snapshotOf(state));
    }

    private static SnapshotPosition position(long index, long term) {
        LogState state = new LogState(
                ClusterConfiguration.NONE, index / 2, 1, Map.of(1, new LogState.Proposer(index, term, 3, Start.NONE)));
        return new SnapshotPosition(term, index, 5, state);
    }

    private void cut() throws IOException {
        Model log = promises.log();
        List<Long> ends = log.ends().stream()
                .filter(end -> end >= cluster.index() && end < log.lastIndex())
                .toList();
        if (applied > 0 && random.nextInt(10) == 0) {
            assertThrows(IllegalStateException.class, () -> store.cutAfter(applied - 1));
        }
        if (ends.isEmpty()) {
            return;
        }
        long index = ends.get(random.nextInt(ends.size()));
        promises.cutting(index);
        store.cutAfter(index);
        cuts++;
        promises.cut(index);
        newTermNeeded = true;
    }

    // ---- snapshots received

    private void receive() throws IOException {
        if (cluster.isAhead()) {
            return;
        }
        if (!cluster.isSnapshotAhead()) {
            if (random.nextInt(20) != 0 || promises.vote().term() < term || term == 0) {
                return;
            }
            long committed = cluster.index();
            long index = committed + 1 + random.nextInt((int) (promises.log().lastIndex() - committed) + 10);
            cluster.sendAhead(position(index, term), random.nextLong());
        }
        if (incoming == null || random.nextInt(20) == 0) {
            SnapshotPosition snapshot = cluster.snapshotAhead();
            incomingBytes = SentSnapshot.bytes(CLUSTER, snapshot, cluster.state(snapshot.lastIndex()));
            incoming = store.receive(snapshot.lastIndex(), snapshot.term(), incomingBytes.length);
            return;
        }
        try {
            receiveMore();
        } catch (DiskFullException e) {
            incoming.discard();
            incoming = null;
        }
    }

    private void receiveMore() throws IOException {
        int from = (int) incoming.received();
        if (from < incomingBytes.length) {
            int length = 1 + random.nextInt(incomingBytes.length - from);
            ByteBuffer chunk = ByteBuffer.allocate(length).put(incomingBytes, from, length);
            incoming.write(chunk.array());
            return;
        }
        long index = cluster.snapshotAhead().lastIndex();
        assertEquals(cluster.snapshotAhead(), incoming.verify());
        // some time passes between
        for (int i = random.nextInt(3); i > 0; i--) {
            runOne(background);
            append();
        }
        promises.installing(index);
        incoming.install();
        installs++;
        promises.installed(index);
        IncomingSnapshot installed = incoming;
        snapshotInstalled();
        for (int i = random.nextInt(3); i > 0; i--) {
            runOne(background);
        }
        requireState(installed, cluster.state(index));
    }

    private static void requireState(IncomingSnapshot installed, long expected) throws IOException {
        long[] state = new long[1];
        installed.read(in -> {
            try {
                state[0] = Replay.read(in);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        assertEquals(expected, state[0]);
    }

    private void snapshotInstalled() {
        cluster.gotSnapshot();
        applied = cluster.index();
        known = applied;
        incoming = null;
        newTermNeeded = true;
    }

    private void close() throws IOException {
        while (!store.stopped()) {
            assertTrue(!background.isEmpty(), "closing waits for nothing");
            runOne(background);
        }
        store.close(true);
        promises.closed(known);
    }
}
