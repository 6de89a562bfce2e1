package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.disk.PowerFailure;
import io.conclave.consensus.disk.SimulatedDisk;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EntryKind;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogState;
import io.conclave.consensus.entry.Origin;
import io.conclave.consensus.store.LogStore.Appended;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * Several lives of one member's store on one simulated disk, all from one seed: appends of several batches, commits,
 * cuts, votes, snapshots of its own and received ones, purges, full disks, kills and power failures at random steps of
 * the disk, recovery included. After each recovery everything that was acknowledged and not cut must be there and
 * nothing else, but for what was under way at the end; and only what was told to be committed may pass for it.
 */
final class CrashSimulation {
    private static final UUID CLUSTER = new UUID(7, 7);
    private static final int SEGMENT_BYTES = 64 * 1024;
    private static final byte[] ZEROS = new byte[SEGMENT_BYTES];

    private final Random random;
    private final SimulatedDisk disk;
    private final Disk seenByStore;
    private final boolean adopted;
    private final Deque<Runnable> background = new ArrayDeque<>();
    private final Deque<Runnable> delayed = new ArrayDeque<>();
    private boolean inline;
    private long clockMs = 1_000_000;
    private FileStore store;

    // ---- what must be there

    private long directory;
    private Model log = Model.EMPTY;

    /** What may be there instead: an operation was under way when the last life ended. */
    private final List<Model> orElse = new ArrayList<>();

    private Recovered vote = new Recovered(0, 0, 0, 0, List.of(), false);
    private Recovered voteOrElse = vote;

    /** Fingerprints of what was cut, and must never come back. */
    private final Set<String> gone = new HashSet<>();

    /** What each batch's header says was committed. */
    private final Map<String, Long> said = new TreeMap<>();

    /** The highest index that the store was told is committed. */
    private long told;

    /** The commit index that a clean close has left. */
    private long left;

    /** A recovery has cut a torn tail, and the member has not caught up since. */
    private boolean torn;

    private boolean tornOrElse;

    /** What the disk held before a recovery that did not come to its end was torn for sure. */
    private boolean mustBeTorn;

    // ---- the cluster

    /** The state behind each committed batch. */
    private final TreeMap<Long, Long> states = new TreeMap<>(Map.of(0L, 0L));

    /** What is committed and, but for {@link #ahead}, in this log. */
    private long committed;

    /** Committed batches that this member has lost or not yet got. */
    private final Deque<LogBatch> ahead = new ArrayDeque<>();

    private long term;
    private boolean newTermNeeded;

    /** What the cluster has committed meanwhile, and this member can only get as a snapshot. */
    private SnapshotPosition snapshotAhead = Snapshots.NONE;

    // ---- this life

    private long applied;

    /** What the store knows to be committed, at least. */
    private long known;

    private IncomingSnapshot incoming;
    private byte[] incomingBytes;
    private StoredSnapshot held;
    private byte[] heldBytes;

    int recoveries;
    int fullDisks;
    int cuts;
    int installs;

    /** Ends the second life at the n-th step of the disk; 0 for lives that end by chance. */
    int failAt;

    /** Whether {@link #failAt} was reached. */
    boolean failed;

    CrashSimulation(long seed, UnaryOperator<Disk> mistake) {
        random = new Random(seed);
        disk = new SimulatedDisk(random.nextLong());
        seenByStore = mistake.apply(disk);
        adopted = random.nextInt(3) == 0;
    }

    void run() throws IOException {
        int lives = 3 + random.nextInt(7);
        for (int life = 0; life < lives; life++) {
            live(life);
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
                .birth(!adopted)
                .segmentBytes(SEGMENT_BYTES)
                .maxEntryBytes(8 * 1024)
                .maxBatchBytes(24 * 1024)
                .maxQueuedBytes(256 * 1024)
                .snapshotEveryEntries(10 + random.nextInt(30))
                .snapshotsKept(1 + random.nextInt(3))
                .build();
    }

    private void live(int life) throws IOException {
        background.clear();
        delayed.clear();
        incoming = null;
        held = null;
        clockMs += random.nextInt(5_000) - 1_000;
        if (random.nextInt(4) != 0) {
            disk.failAfter(1 + random.nextInt(random.nextBoolean() ? 15 : 200));
        }
        if (failAt > 0) {
            disk.failAfter(life == 1 ? failAt : -1);
        }
        boolean clean = false;
        try {
            recoverAndCheck();
            clean = work();
        } catch (PowerFailure e) {
            // the process ends here
        } catch (DiskFullException e) {
            if (directory != 0) {
                throw e;
            }
            disk.capacity(Long.MAX_VALUE); // nor does an empty directory join on one
        } catch (LogException e) {
            if (e.getCause() instanceof DiskFullException && log.lastIndex() == 0) {
                disk.capacity(Long.MAX_VALUE); // a cluster does not begin on a full disk
            } else if (!disk.hasFailed()) {
                throw e;
            }
        }
        failed |= disk.hasFailed();
        if (!clean) {
            left = 0;
        }
        if (random.nextInt(3) == 0) {
            disk.kill();
        } else {
            disk.losePower();
            // only what is on the disk now is there for sure whatever comes
            mustBeTorn |= !orElse.isEmpty() && isTorn();
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
        assertEquals(!adopted, store.isBirthplace());
        directory = store.directory();
    }

    private void recoverAndCheck() throws IOException {
        recoveries++;
        inline = true;
        open();
        Replay replay = new Replay();
        Recovered recovered = store.recover(replay);
        inline = false;
        boolean mayBeTorn = torn || !orElse.isEmpty();
        assertTrue(mayBeTorn || !recovered.cut(), "nothing can be torn");
        checkLog(replay, recovered);
        checkCommitted(replay, recovered);
        checkVote(recovered);
        checkNothingBehindTheEnd();
        applied = replay.lastIndex();
        known = applied;
    }

    private void checkLog(Replay replay, Recovered recovered) {
        List<LogBatch> found = new ArrayList<>(replay.batches);
        found.addAll(recovered.rest());
        for (LogBatch batch : found) {
            assertFalse(gone.contains(Model.fingerprint(batch)), "was cut and is there again: " + batch);
        }
        long snapshot = replay.snapshot.lastIndex();
        List<Model> possible = new ArrayList<>(orElse);
        possible.add(log);
        Model is = possible.stream()
                .filter(model -> model.isFoundAs(snapshot, found))
                .findFirst()
                .orElseThrow(() -> new AssertionError("found behind " + snapshot + ": " + Model.fingerprints(found)
                        + "; expected " + log + " or one of " + orElse));
        if (is.base() != log.base()) {
            snapshotInstalled();
        }
        log = is;
        orElse.clear();
        // what was committed and did not survive a crash that was not this store's fault comes again
        List<LogBatch> lost = new ArrayList<>();
        for (LogBatch batch : ahead) {
            if (batch.firstIndex() > log.lastIndex()) {
                lost.add(batch);
            }
        }
        ahead.clear();
        ahead.addAll(lost);
        newTermNeeded = true;
    }

    private void checkCommitted(Replay replay, Recovered recovered) {
        long index = replay.lastIndex();
        assertEquals(index, recovered.lastCommitted());
        assertTrue(index <= told, "committed up to " + index + ", but was told " + told);
        assertTrue(log.ends().contains(index), index + " is not the end of a batch");
        long least = Math.min(left, log.lastIndex());
        for (LogBatch batch : log.batches()) {
            least = Math.max(least, Math.min(said.get(Model.fingerprint(batch)), log.lastIndex()));
        }
        least = log.endAtOrBefore(least);
        assertTrue(index >= least, "committed up to " + index + ", but was told and wrote " + least);
        assertEquals(states.get(index), replay.state, "the state at " + index);
        assertEquals(termAt(index, replay), recovered.lastCommittedTerm(), "the term of " + index);
    }

    private long termAt(long index, Replay replay) {
        for (LogBatch batch : log.batches()) {
            if (batch.lastIndex() == index) {
                return batch.term();
            }
        }
        return replay.snapshot.term();
    }

    private void checkVote(Recovered found) {
        boolean same = found.term() == vote.term() && found.votedFor() == vote.votedFor();
        boolean next = found.term() == voteOrElse.term() && found.votedFor() == voteOrElse.votedFor();
        assertTrue(
                same || next,
                "voted for " + found.votedFor() + " in " + found.term() + "; not " + vote + " nor " + voteOrElse);
        vote = found;
        voteOrElse = found;
        assertTrue(found.cut() || !torn || !tornOrElse, "that the end was torn is forgotten");
        assertTrue(found.cut() || !mustBeTorn, "that the end was torn was forgotten by an interrupted recovery");
        torn = found.cut();
        tornOrElse = torn;
        mustBeTorn = false;
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

    /** Bytes of a torn write or of a cut that stay behind the end could be taken for a batch one day. */
    private void checkNothingBehindTheEnd() {
        for (String name : disk.list()) {
            if (Segment.idOf(name) < 0) {
                continue;
            }
            ByteBuffer bytes = ByteBuffer.wrap(disk.durableBytes(name));
            int end = LogFormat.SEGMENT_HEADER_BYTES;
            assertTrue(bytes.limit() > end, name + " is in use but not durable");
            Optional<BatchHeader> header =
                    BatchHeader.read(bytes.slice(end, bytes.limit() - end), CLUSTER, Segment.idOf(name));
            while (header.isPresent() && end + header.get().stride() < bytes.limit()) {
                end += (int) header.get().stride();
                header = BatchHeader.read(bytes.slice(end, bytes.limit() - end), CLUSTER, Segment.idOf(name));
            }
            ByteBuffer rest = bytes.slice(end, bytes.limit() - end);
            int used = rest.mismatch(ByteBuffer.wrap(ZEROS, 0, rest.limit()));
            assertTrue(used < 0, "left behind the end " + end + " of " + name + " at " + (end + used));
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
                case 16 -> holdSnapshot();
                case 17, 18 -> receive();
                default -> append();
            }
            if (snapshotAhead.lastIndex() > 0 && random.nextInt(3) == 0) {
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
        int member = inTerm == vote.term() && vote.votedFor() != 0 ? vote.votedFor() : random.nextInt(4);
        voteOrElse = new Recovered(inTerm, member, 0, 0, List.of(), false);
        store.vote(inTerm, member);
        vote = voteOrElse;
        term = Math.max(term, inTerm);
    }

    private void caughtUp() throws IOException {
        tornOrElse = false;
        store.caughtUp();
        torn = false;
    }

    private void append() throws IOException {
        List<LogBatch> batches = nextBatches();
        long last = batches.get(batches.size() - 1).lastIndex();
        boolean allCommitted = !ahead.isEmpty() || (noSnapshotAhead() && random.nextInt(6) == 0);
        long commitIndex = committed;
        if (allCommitted) {
            batches.forEach(this::nowCommitted);
            if (ahead.isEmpty()) {
                ahead.addAll(batches);
            }
            commitIndex = last;
        } else if (random.nextBoolean()) {
            commitIndex = random.nextLong(committed + 1);
        }
        for (int count = 1; count <= batches.size(); count++) {
            orElse.add(log.with(batches.subList(0, count)));
        }
        for (LogBatch batch : batches) {
            said.put(Model.fingerprint(batch), commitIndex);
        }
        long before = told;
        told = Math.max(told, commitIndex);
        Appended outcome = store.append(batches, commitIndex);
        orElse.clear();
        if (outcome == Appended.DONE) {
            log = log.with(batches);
            known = Math.max(known, commitIndex);
            batches.forEach(batch -> ahead.remove(batch));
        } else {
            told = before;
            fullDisks += outcome == Appended.FULL ? 1 : 0;
        }
    }

    private void nowCommitted(LogBatch batch) {
        states.put(batch.lastIndex(), Replay.stateAfter(states.get(batch.firstIndex() - 1), batch));
        committed = Math.max(committed, batch.lastIndex());
    }

    private boolean noSnapshotAhead() {
        return snapshotAhead.lastIndex() == 0 && committed == log.lastIndex();
    }

    private List<LogBatch> nextBatches() throws IOException {
        if (!ahead.isEmpty()) {
            List<LogBatch> next = new ArrayList<>(ahead);
            return next.subList(0, 1 + random.nextInt(next.size()));
        }
        if (newTermNeeded || random.nextInt(20) == 0) {
            vote(Math.max(term, vote.term()) + 1);
            newTermNeeded = false;
        }
        List<LogBatch> batches = new ArrayList<>();
        long index = log.lastIndex() + 1;
        int count = random.nextInt(3) == 0 ? 1 + random.nextInt(6) : 1;
        for (int i = 0; i < count; i++) {
            LogBatch batch = new LogBatch(term, index, clockMs, entries(term > log.lastTerm() && i == 0));
            batches.add(batch);
            index = batch.lastIndex() + 1;
        }
        return batches;
    }

    private List<LogEntry> entries(boolean firstOfTerm) {
        if (firstOfTerm) {
            return List.of(new LogEntry(EntryKind.TERM, Origin.NONE, new byte[0]));
        }
        List<LogEntry> entries = new ArrayList<>();
        int count = 1 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            byte[] payload = new byte[random.nextInt(4) == 0 ? random.nextInt(8_000) : random.nextInt(900)];
            random.nextBytes(payload);
            entries.add(new LogEntry(
                    EntryKind.APPLICATION, new Origin(1 + random.nextInt(3), random.nextInt(9), i), payload));
        }
        return entries;
    }

    /** More of the log is committed; the store hears of it later. */
    private void commit() {
        if (snapshotAhead.lastIndex() > 0 || !ahead.isEmpty()) {
            return;
        }
        List<LogBatch> open = log.behind(committed);
        int count = open.isEmpty() ? 0 : random.nextInt(open.size() + 1);
        open.subList(0, count).forEach(this::nowCommitted);
    }

    private void apply() {
        List<Long> ends = log.ends().stream()
                .filter(end -> end <= committed && end > applied)
                .toList();
        if (ends.isEmpty()) {
            return;
        }
        applied = ends.get(random.nextInt(ends.size()));
        told = Math.max(told, applied);
        known = Math.max(known, applied);
        long state = states.get(applied);
        long termThere = log.batches().stream()
                .filter(batch -> batch.lastIndex() == applied)
                .findFirst()
                .orElseThrow()
                .term();
        store.applied(position(applied, termThere), () -> Replay.snapshotOf(state));
    }

    private static SnapshotPosition position(long index, long term) {
        LogState state =
                new LogState(ClusterConfiguration.NONE, index / 2, 1, Map.of(1, new LogState.Proposer(index, term, 3)));
        return new SnapshotPosition(term, index, 5, state);
    }

    private void cut() throws IOException {
        List<Long> ends = log.ends().stream()
                .filter(end -> end >= committed && end < log.lastIndex())
                .toList();
        if (applied > 0 && random.nextInt(10) == 0) {
            assertThrows(IllegalStateException.class, () -> store.cutAfter(applied - 1));
        }
        if (ends.isEmpty()) {
            return;
        }
        long index = ends.get(random.nextInt(ends.size()));
        for (long end : log.ends()) {
            if (end >= index && end < log.lastIndex()) {
                orElse.add(log.cutAfter(end));
            }
        }
        List<LogBatch> cut = log.behind(index);
        store.cutAfter(index);
        cuts++;
        orElse.clear();
        log = log.cutAfter(index);
        cut.forEach(batch -> gone.add(Model.fingerprint(batch)));
        newTermNeeded = true;
    }

    // ---- snapshots given and received

    /** Opens the newest snapshot and reads it at some later time, when its file may be deleted. */
    private void holdSnapshot() throws IOException {
        if (held != null) {
            assertTrue(ByteBuffer.wrap(heldBytes).equals(ByteBuffer.wrap(bytesOf(held))), "the snapshot has changed");
            held.close();
            held = null;
            return;
        }
        held = store.openNewestSnapshot();
        if (held != null) {
            assertTrue(states.containsKey(held.lastIndex()));
            heldBytes = bytesOf(held);
        }
    }

    private static byte[] bytesOf(StoredSnapshot snapshot) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) snapshot.length());
        assertEquals(bytes.capacity(), snapshot.read(bytes, 0));
        return bytes.array();
    }

    private void receive() throws IOException {
        if (!ahead.isEmpty()) {
            return;
        }
        if (snapshotAhead.lastIndex() == 0) {
            if (random.nextInt(20) != 0 || vote.term() < term || term == 0) {
                return;
            }
            long index = committed + 1 + random.nextInt((int) (log.lastIndex() - committed) + 10);
            snapshotAhead = position(index, term);
            states.put(index, random.nextLong());
        }
        if (incoming == null || random.nextInt(20) == 0) {
            incomingBytes = snapshotBytes(snapshotAhead, states.get(snapshotAhead.lastIndex()));
            incoming = store.receive(snapshotAhead.lastIndex(), snapshotAhead.term(), incomingBytes.length);
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
            ByteBuffer piece = ByteBuffer.allocate(length).put(incomingBytes, from, length);
            incoming.write(piece.array());
            return;
        }
        long index = snapshotAhead.lastIndex();
        long[] state = new long[1];
        SnapshotPosition position = incoming.verify(in -> {
            try {
                state[0] = Replay.read(in);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        assertEquals(snapshotAhead, position);
        assertEquals(states.get(index), state[0]);
        // some time passes between
        for (int i = random.nextInt(3); i > 0; i--) {
            runOne(background);
            append();
        }
        told = Math.max(told, index);
        orElse.add(new Model(index, List.of()));
        incoming.install();
        installs++;
        orElse.clear();
        log.batches().forEach(batch -> gone.add(Model.fingerprint(batch)));
        log = new Model(index, List.of());
        snapshotInstalled();
    }

    private void snapshotInstalled() {
        committed = snapshotAhead.lastIndex();
        applied = committed;
        known = committed;
        snapshotAhead = Snapshots.NONE;
        incoming = null;
        newTermNeeded = true;
    }

    private static byte[] snapshotBytes(SnapshotPosition position, long state) throws IOException {
        MemoryDisk sender = new MemoryDisk();
        SnapshotFile.write(sender, CLUSTER, position, Replay.snapshotOf(state), () -> false);
        try (DiskFile file = sender.open(SnapshotFile.name(position.lastIndex()))) {
            ByteBuffer bytes = ByteBuffer.allocate((int) file.size());
            file.read(bytes, 0);
            return bytes.array();
        }
    }

    private void close() throws IOException {
        while (!store.stopped()) {
            assertTrue(!background.isEmpty(), "closing waits for nothing");
            runOne(background);
        }
        store.close(true);
        left = known;
    }
}
