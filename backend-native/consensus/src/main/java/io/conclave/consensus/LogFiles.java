package io.conclave.consensus;

import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.entry.EntryKind;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of one member: identity, vote, segments, snapshots. It has no threads and makes no decisions about when;
 * everything here belongs to the log's thread but for the methods that say otherwise.
 *
 * <p>Order of what must be durable before what: the vote before the first entry of a term; a batch before it is applied;
 * a segment, name included, before a batch is written into it; a snapshot, name included, before the segments and
 * snapshots it replaces are deleted.
 *
 * <p>An {@link IOException} from any method that writes means that the log must end: nothing is tried again.
 */
final class LogFiles implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(LogFiles.class);

    private final Disk disk;
    private final LogOptions options;
    private final Closeable lock;
    private final Identity identity;
    private final VoteFile vote;
    private final BatchEncoder encoder = new BatchEncoder();

    /** Last indexes of the snapshots, oldest first. */
    private final List<Long> snapshots = new ArrayList<>();

    /** Those that hold batches, oldest first; the last is written to. */
    private final List<Segment> segments = new ArrayList<>();

    private final Deque<Segment> spares = new ArrayDeque<>();

    private LogTail tail = new LogTail(LogPosition.START, 0, 0, 0, 0);
    private int featureLevel;

    /** Where the log ended before a roll that no batch has followed yet. */
    private @Nullable LogPosition rolledFrom;

    private LogFiles(Disk disk, LogOptions options, Closeable lock, Identity identity, VoteFile vote) {
        this.disk = disk;
        this.options = options;
        this.lock = lock;
        this.identity = identity;
        this.vote = vote;
        this.featureLevel = identity.featureLevel();
    }

    /** Locks the directory and learns whose it is; a new one is born. */
    static LogFiles open(Disk disk, LogOptions options) throws IOException {
        Closeable lock = LogDirectory.lock(disk);
        try {
            Identity identity = LogDirectory.identify(disk, options);
            return new LogFiles(disk, options, lock, identity, VoteFile.open(disk, identity));
        } catch (IOException | RuntimeException e) {
            lock.close();
            throw e;
        }
    }

    /** Restores the newest valid snapshot, applies the log behind it, and makes the files ready for writing. */
    LogTail recover(StateMachine machine, Consumer<CommittedBatch> apply) throws IOException {
        List<String> names = disk.list();
        SnapshotMark snapshot = restoreNewest(names, machine);
        featureLevel = Math.max(featureLevel, snapshot.featureLevel());
        openSegments(names);
        long reached = snapshots.isEmpty() ? 0 : snapshots.get(snapshots.size() - 1);
        LogRecovery recovery = new LogRecovery(disk, identity, segments, snapshot, vote.durable());
        tail = recovery.run(
                batch -> {
                    featureLevel = featureLevelAfter(batch, featureLevel);
                    apply.accept(batch);
                },
                reached);
        setDamagedAside(snapshot.lastIndex());
        while (segments.size() > 1
                && segments.get(segments.size() - 1).id() > tail.end().segment()) {
            spares.addFirst(segments.remove(segments.size() - 1));
        }
        requireKnownFeatureLevel();
        return tail;
    }

    private SnapshotMark restoreNewest(List<String> names, StateMachine machine) throws IOException {
        names.stream()
                .map(SnapshotFile::lastIndexOf)
                .filter(index -> index >= 0)
                .sorted()
                .forEach(snapshots::add);
        for (int i = snapshots.size() - 1; i >= 0; i--) {
            String name = SnapshotFile.name(snapshots.get(i));
            try {
                SnapshotMark mark = SnapshotFile.verify(disk, identity, name);
                SnapshotFile.restore(disk, name, machine);
                return mark;
            } catch (DamagedLogException e) {
                log.error("falling back to an older snapshot, if the log still covers it", e);
            }
        }
        return SnapshotMark.NONE;
    }

    /** A damaged snapshot must not count as one of those that are kept. */
    private void setDamagedAside(long restored) throws IOException {
        while (!snapshots.isEmpty() && snapshots.get(snapshots.size() - 1) > restored) {
            String name = SnapshotFile.name(snapshots.remove(snapshots.size() - 1));
            disk.rename(name, name + LogFormat.DAMAGED);
            disk.syncDirectory();
        }
    }

    /**
     * Opens the segments from the newest down to the first gap. Below a gap lies what was being deleted when the power
     * failed, for deletions may become durable in any order; a gap above what the snapshot covers is found later.
     */
    private void openSegments(List<String> names) throws IOException {
        List<Long> ids = names.stream()
                .map(Segment::idOf)
                .filter(id -> id >= 0)
                .sorted(Comparator.reverseOrder())
                .toList();
        for (int i = 0; i < ids.size(); i++) {
            if (ids.get(i) == ids.get(0) - i) {
                segments.add(0, Segment.open(disk, identity, ids.get(i)));
            } else {
                log.info("{}: deleting a segment left below a gap", disk.describe(Segment.name(ids.get(i))));
                disk.delete(Segment.name(ids.get(i)));
            }
        }
        if (segments.isEmpty()) {
            if (!snapshots.isEmpty() || vote.durable().compareTo(LogPosition.START) > 0) {
                throw new DamagedLogException(
                        disk.describe(Segment.name(Math.max(1, vote.durable().segment()))), 0, "it is missing");
            }
            segments.add(Segment.create(disk, identity, 1, options.firstSegmentBytes(), () -> false));
        }
    }

    private void requireKnownFeatureLevel() {
        if (featureLevel > options.featureLevel()) {
            throw new LogException(disk + " uses feature level " + featureLevel + ", this software understands "
                    + options.featureLevel() + " at most: a newer version has run here");
        }
    }

    UUID clusterId() {
        return identity.clusterId();
    }

    LogTail tail() {
        return tail;
    }

    /** A term above any that this member has seen. */
    long nextTerm() {
        return Math.max(vote.term(), tail.term()) + 1;
    }

    /** Makes the term durable, with this member's vote for itself; before anything of that term is written. */
    void enterTerm(long term) throws IOException {
        vote.write(term, identity.memberId(), tail.end());
    }

    /** Whether a batch of so many bytes goes into the current segment. */
    boolean fits(CommittedBatch batch) {
        int bytes = LogFormat.wholeSectors(BatchEncoder.bytesOf(batch));
        boolean ofTerm = batch.entries().get(0).kind() == EntryKind.TERM;
        return bytes <= room() - (ofTerm ? 0 : LogFormat.RESERVE_BYTES);
    }

    /** Bytes left in the current segment. */
    long room() {
        return current().size() - tail.end().offset();
    }

    /** Size of the current segment. */
    long currentBytes() {
        return current().size();
    }

    boolean hasSpare() {
        return !spares.isEmpty();
    }

    /** Goes on in the spare segment. */
    void roll() {
        segments.add(spares.removeFirst());
        LogPosition end = new LogPosition(current().id(), LogFormat.SEGMENT_HEADER_BYTES);
        rolledFrom = tail.end();
        tail = new LogTail(end, tail.term(), tail.lastIndex(), tail.timestampMs(), tail.headerCrc());
    }

    /** Writes a batch that fits; returns when it is durable. */
    void append(CommittedBatch batch) throws IOException {
        LogPosition at = tail.end();
        LogPosition durable = rolledFrom == null ? at : rolledFrom;
        ByteBuffer bytes = encoder.encode(batch, identity, at, durable, tail.headerCrc());
        int headerCrc = bytes.getInt(BatchHeader.BYTES - 4);
        int stride = bytes.remaining();
        current().file().writeSynced(bytes, at.offset());
        if (current().firstIndex() == 0) {
            current().startAt(batch.firstIndex());
        }
        rolledFrom = null;
        featureLevel = featureLevelAfter(batch, featureLevel);
        LogPosition end = new LogPosition(at.segment(), at.offset() + stride);
        tail = new LogTail(end, batch.term(), batch.lastIndex(), batch.timestampMs(), headerCrc);
    }

    private Segment current() {
        return segments.get(segments.size() - 1);
    }

    /** The id that the next spare segment must have. */
    long nextSpareId() {
        return (spares.isEmpty() ? current() : spares.getLast()).id() + 1;
    }

    /** Makes a spare segment; any thread. */
    Segment createSpare(long id, BooleanSupplier cancelled) throws IOException {
        return Segment.create(disk, identity, id, options.segmentBytes(), cancelled);
    }

    void adoptSpare(Segment spare) {
        spares.addLast(spare);
    }

    /** What a snapshot of the machine would stand for now. */
    SnapshotMark mark() {
        return new SnapshotMark(tail.term(), tail.lastIndex(), tail.timestampMs(), featureLevel);
    }

    /** Writes a snapshot; any thread. See {@link SnapshotFile#write} for the exceptions. */
    void writeSnapshot(SnapshotMark mark, StateSnapshot state, BooleanSupplier cancelled) throws IOException {
        SnapshotFile.write(disk, identity, mark, state, cancelled);
    }

    /** Counts a snapshot that is durable now, and says which files are not needed any more. */
    List<String> adoptSnapshot(SnapshotMark mark) {
        snapshots.add(mark.lastIndex());
        List<String> obsolete = new ArrayList<>();
        while (snapshots.size() > options.snapshotsKept()) {
            obsolete.add(SnapshotFile.name(snapshots.remove(0)));
        }
        // with fewer snapshots the whole log is kept: it is what a damaged snapshot falls back to
        if (snapshots.size() == options.snapshotsKept()) {
            removeSegmentsBelow(snapshots.get(0) + 1, obsolete);
        }
        return obsolete;
    }

    private void removeSegmentsBelow(long firstNeeded, List<String> obsolete) {
        while (segments.size() > 1
                && segments.get(1).firstIndex() != 0
                && segments.get(1).firstIndex() <= firstNeeded) {
            Segment removed = segments.remove(0);
            obsolete.add(removed.name());
            try {
                removed.close();
            } catch (IOException e) {
                log.warn("closing {}, which is not needed any more", removed.name(), e);
            }
        }
    }

    /** Deletes files that are not needed; any thread. That one stays is no harm: it is tried again after a restart. */
    void delete(List<String> names) {
        for (String name : names) {
            try {
                disk.delete(name);
            } catch (IOException e) {
                log.warn("cannot delete {}, which is not needed any more", disk.describe(name), e);
            }
        }
    }

    /** Leaves a mark of where the log ends, by which later damage of its end is told from a torn write. */
    void markEnd() throws IOException {
        vote.write(vote.term(), identity.memberId(), rolledFrom == null ? tail.end() : rolledFrom);
    }

    /** Closes the files and gives the directory free. */
    @Override
    public void close() throws IOException {
        for (Segment segment : segments) {
            segment.close();
        }
        for (Segment segment : spares) {
            segment.close();
        }
        vote.close();
        lock.close();
    }

    private static int featureLevelAfter(CommittedBatch batch, int level) {
        int result = level;
        for (CommittedEntry entry : batch.entries()) {
            if (entry.kind() == EntryKind.FEATURE_LEVEL && entry.payload().length == Integer.BYTES) {
                result = ByteBuffer.wrap(entry.payload()).getInt();
            }
        }
        return result;
    }
}
