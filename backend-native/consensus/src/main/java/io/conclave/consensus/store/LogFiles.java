package io.conclave.consensus.store;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.Start;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The vote and the log of one member. It has no threads and makes no decisions about when; everything here belongs to
 * the member's thread but for the methods that say otherwise.
 *
 * <p>Order of what must be durable before what: the vote before the first entry of a term; a batch before it is
 * applied; a segment, name included, before a batch is written into it; a snapshot, name included, before the segments
 * and snapshots it replaces are deleted; the vote file's mark moved back before anything is cut; the vote file's base
 * before an old log is deleted for a received snapshot.
 *
 * <p>An {@link IOException} from any method that writes means that the log must end: nothing is tried again.
 */
final class LogFiles implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(LogFiles.class);

    private final Disk disk;
    private final LogOptions options;
    private final DirectoryIdentity identity;
    private final VoteFile vote;
    private final LogSegments segments;

    LogFiles(Disk disk, LogOptions options, DirectoryIdentity identity) throws IOException {
        this.disk = disk;
        this.options = options;
        this.identity = identity;
        this.vote = VoteFile.open(disk, identity.clusterId());
        this.segments = new LogSegments(disk, identity.clusterId(), options.segmentBytes());
    }

    LogSegments segments() {
        return segments;
    }

    // ---- recovery

    /** Restores the newest valid snapshot, gives away the log behind it, and makes the files ready for writing. */
    Recovered recover(Snapshots snapshots, RecoveryTarget target) throws IOException {
        SnapshotPosition snapshot = snapshots.recover(vote.vote().base(), target);
        List<String> unneeded = new ArrayList<>();
        List<Segment> found =
                openSegments(snapshots.reached() > vote.vote().base().index(), unneeded);
        LogRecovery recovery =
                new LogRecovery(disk, identity.clusterId(), options.maxBatchBytes(), vote.vote(), found, snapshot);
        recovery.read(
                batch -> {
                    requireKnownFeatures(batch);
                    snapshots.logged(BatchEncoder.strideOf(batch));
                    target.committed(batch);
                },
                snapshots.reached());
        // that it is torn first, since it could not be told after the cut; the start before anything is said
        StoredVote started = vote.vote().startedAs(options.directoryIds().getAsLong());
        vote.write(recovery.isTorn() ? started.tornNow() : started);
        recovery.cut();
        snapshots.setDamagedAside();
        delete(unneeded); // not before the rest has proven to be the whole log: else one of them may only be away
        segments.recovered(found, recovery.written());
        return outcome(recovery, snapshot);
    }

    private Recovered outcome(LogRecovery recovery, SnapshotPosition snapshot) {
        List<LogBatch> rest = recovery.rest();
        LogTail tail = segments.tail();
        LogTail last = segments.committedTail();
        long committed = last.lastIndex();
        long committedTerm = last.term() != 0 ? last.term() : snapshot.term();
        StoredVote found = vote.vote();
        boolean behind = found.term() < tail.term();
        return new Recovered(
                behind ? tail.term() : found.term(),
                behind ? 0 : found.votedFor(),
                committed,
                committed == 0 ? 0 : committedTerm,
                rest,
                found.torn(),
                behind ? tail.term() : found.doubtTerm(),
                new Start(identity.directory(), found.starts(), found.startId()));
    }

    private void requireKnownFeatures(LogBatch batch) {
        for (LogEntry entry : batch.entries()) {
            if (entry.kind() == LogEntryKind.FEATURE_LEVEL && entry.payload().length == Integer.BYTES) {
                int level = ByteBuffer.wrap(entry.payload()).getInt();
                LogFormat.requireFeatureLevel(disk, level, options.featureLevel());
            }
        }
    }

    /**
     * Opens the segments from the newest down to the first gap. Below a gap lies what was being deleted when the power
     * failed, for deletions may become durable in any order; a gap above what the snapshot covers is found later. What
     * is older than the log's beginning was left by an install, and goes at once.
     *
     * @param unneeded gets the names of those below a gap, which are not needed if the others make the log
     */
    private List<Segment> openSegments(boolean snapshotsInLog, List<String> unneeded) throws IOException {
        LogBase base = vote.vote().base();
        List<Long> ids = disk.list().stream()
                .map(Segment::idOf)
                .filter(id -> id >= 0)
                .sorted(Comparator.reverseOrder())
                .toList();
        List<Segment> found = new ArrayList<>();
        for (int i = 0; i < ids.size(); i++) {
            String name = Segment.name(ids.get(i));
            if (ids.get(i) < base.segment()) {
                delete(List.of(name));
            } else if (ids.get(i) == ids.get(0) - i) {
                found.add(0, Segment.open(disk, identity.clusterId(), ids.get(i)));
            } else {
                unneeded.add(name);
            }
        }
        if (found.isEmpty()) {
            LogPosition durable = vote.vote().durable();
            if (snapshotsInLog || durable.compareTo(base.start()) > 0) {
                throw new DamagedLogException(
                        disk.describe(Segment.name(Math.max(base.segment(), durable.segment()))), 0, "it is missing");
            }
            makeFirst(base).ifPresent(found::add);
        }
        return found;
    }

    private void delete(List<String> segmentNames) throws IOException {
        for (String name : segmentNames) {
            log.info("{}: deleting a segment that is not needed", disk.describe(name));
            disk.delete(name);
        }
    }

    /**
     * The segment in which a log begins that has none. A member whose disk has no room for it starts without: it votes,
     * and writes when there is room. Nothing was ever written to a log that was bootstrapped here and never had one, so
     * its cluster does not begin.
     */
    private Optional<Segment> makeFirst(LogBase base) throws IOException {
        try {
            return Optional.of(createSegment(base.segment(), options.firstSegmentBytes(), () -> false));
        } catch (DiskFullException e) {
            if (identity.bootstrappedHere() && base.equals(LogBase.BOOTSTRAP)) {
                throw LogDirectory.noRoomToBegin(disk, options, e);
            }
            log.error(
                    "{}: no room for a segment of the log, so nothing is written until there is: {}",
                    disk,
                    e.getMessage());
            return Optional.empty();
        }
    }

    /** Makes the first segment of a new member, for which recovery would make it. */
    void makeRoom() throws IOException {
        long first = vote.vote().base().segment();
        if (!disk.list().contains(Segment.name(first))) {
            createSegment(first, options.firstSegmentBytes(), () -> false).close();
        }
    }

    // ---- the vote

    /** Makes the vote durable. */
    void vote(long term, int votedFor) throws IOException {
        vote.write(current().in(term, votedFor));
    }

    /** What the vote file should say now. */
    private StoredVote current() {
        return vote.vote().with(segments.tail().end(), committed());
    }

    /** The member has caught up: a torn end of the log is of the past. */
    void caughtUp() throws IOException {
        if (vote.vote().torn()) {
            vote.write(current().whole());
        }
    }

    /** Leaves a mark of where the log ends, by which later damage of its end is told from a torn write. */
    void markEnd() throws IOException {
        if (segments.isRecovered()) {
            vote.write(current());
        }
    }

    // ---- the log

    /** Writes batches for which there is room; returns how many bytes, when they are durable. */
    long append(List<LogBatch> batches, long commitIndex) throws IOException {
        long bytes = segments.append(batches, commitIndex);
        committed(commitIndex);
        if (batches.stream().anyMatch(LogFiles::changesTheConfiguration)) {
            // damage there must never pass for a torn tail: the configuration before may have this member as its only
            // voter
            markEnd();
        }
        return bytes;
    }

    private static boolean changesTheConfiguration(LogBatch batch) {
        return batch.entries().stream().anyMatch(entry -> entry.kind() == LogEntryKind.CONFIGURATION);
    }

    /** Learns what is committed, which may not be cut from then on; more than the log has counts when it is there. */
    void committed(long index) {
        segments.committed(Math.min(index, segments.tail().lastIndex()));
    }

    private long committed() {
        return segments.committedTail().lastIndex();
    }

    /** Cuts everything behind the index; durable on return. */
    void cutAfter(long index) throws IOException {
        LogTail end = segments.tailAt(index);
        if (end.equals(segments.tail())) {
            return;
        }
        // what is cut must not pass for damage, so nothing may say any more that it was durable
        vote.write(vote.vote().with(end.end(), committed()));
        segments.cutTo(end);
    }

    /** Makes a spare segment; any thread. */
    Segment createSpare(long id, BooleanSupplier cancelled) throws IOException {
        return createSegment(id, options.segmentBytes(), cancelled);
    }

    private Segment createSegment(long id, int bytes, BooleanSupplier cancelled) throws IOException {
        return Segment.create(disk, identity.clusterId(), id, bytes, cancelled);
    }

    /**
     * Begins the log behind a received snapshot, durable under the name of one. One write of the vote file decides
     * which log there is after a crash: the old one or this.
     *
     * @return files of the old log
     */
    List<String> install(SnapshotPosition position, String name, Snapshots snapshots) throws IOException {
        if (position.lastIndex() <= committed()) {
            throw new IllegalStateException("a snapshot of index " + position.lastIndex()
                    + " cannot replace a log that is committed up to " + committed());
        }
        LogBase base = new LogBase(segments.nextBase(), position.lastIndex());
        vote.write(vote.vote().startingAt(base));
        snapshots.installed(position, name);
        return segments.restart(
                new LogTail(base.start(), position.term(), position.lastIndex(), position.timestampMs(), 0));
    }

    @Override
    public void close() throws IOException {
        segments.close();
        vote.close();
    }
}
