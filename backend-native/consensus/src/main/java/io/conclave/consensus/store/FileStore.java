package io.conclave.consensus.store;

import io.conclave.consensus.DiskState;
import io.conclave.consensus.LogException;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.entry.LogBatch;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a member's log in {@link LogFiles} and its {@link Snapshots}, and decides when the next segment is made and what
 * is purged. Slow work runs on the background executor; its result comes back to the member's thread, which owns all
 * state.
 *
 * <p>A full disk is met when the next segment is made, ahead of need: before anything depends on it.
 */
public final class FileStore implements LogStore {
    private static final Logger log = LoggerFactory.getLogger(FileStore.class);
    private static final UUID NO_CLUSTER = new UUID(0, 0);

    /** The next segment is made when this part of the current one is used. */
    private static final int SPARE_AFTER = 4;

    private enum Spare {
        NOT_ASKED,
        BEING_MADE,
        NO_ROOM
    }

    /** What a member has. */
    private record Membership(Identity identity, LogFiles files, Snapshots snapshots) {}

    private final Disk disk;
    private final LogOptions options;
    private final Executor memberThread;
    private final Background background;

    /** Of its own: the log must not wait for a snapshot when it needs its next segment. */
    private final Background segmentWork;

    private final Closeable lock;
    private @Nullable Membership membership;

    /** Open ones. */
    private final List<OpenLog> readers = new ArrayList<>();

    private Spare spare = Spare.NOT_ASKED;
    private boolean full;

    private FileStore(Disk disk, LogOptions options, Executor memberThread, Closeable lock) {
        this.disk = disk;
        this.options = options;
        this.memberThread = memberThread;
        this.background = new Background(options.background(), memberThread);
        this.segmentWork = new Background(options.segmentWork(), memberThread);
        this.lock = lock;
    }

    /**
     * Locks the directory and learns whose it is; an empty one is born as a new cluster if the options say so.
     *
     * @param memberThread brings outcomes of background work to the member's thread; must not run them in the caller's,
     *     unless everything runs on one thread
     * @throws LogException if the directory is in use, or holds something else, or another member's log
     */
    public static FileStore open(Disk disk, LogOptions options, Executor memberThread) throws IOException {
        Closeable lock = LogDirectory.lock(disk);
        try {
            LogDirectory.setAsideIfCondemned(disk);
            FileStore store = new FileStore(disk, options, memberThread, lock);
            Identity identity = LogDirectory.identify(disk, options).orElse(null);
            if (identity != null) {
                store.begin(identity);
            }
            return store;
        } catch (IOException | RuntimeException e) {
            lock.close();
            throw e;
        }
    }

    private void begin(Identity identity) throws IOException {
        membership = new Membership(
                identity,
                new LogFiles(disk, options, identity),
                new Snapshots(
                        disk,
                        identity.clusterId(),
                        options,
                        options.snapshotsKept(),
                        background,
                        identity.directory(),
                        this::purge));
    }

    private Membership membership() {
        if (membership == null) {
            throw new IllegalStateException(disk + " belongs to no cluster, or is closed");
        }
        return membership;
    }

    private LogFiles files() {
        return membership().files;
    }

    private LogSegments segments() {
        return membership().files.segments();
    }

    private Snapshots snapshots() {
        return membership().snapshots;
    }

    // ---- whose it is

    @Override
    public boolean isMember() {
        return membership != null;
    }

    @Override
    public boolean isBirthplace() {
        return membership != null && membership.identity.bornHere();
    }

    @Override
    public long directory() {
        return membership == null ? 0 : membership.identity.directory();
    }

    @Override
    public UUID clusterId() {
        return membership == null ? NO_CLUSTER : membership.identity.clusterId();
    }

    @Override
    public void adopt(UUID clusterId) throws IOException {
        if (membership != null) {
            throw new IllegalStateException(disk + " belongs to cluster " + clusterId() + " already");
        }
        begin(LogDirectory.begin(disk, options, clusterId, false));
        try {
            files().makeRoom();
        } catch (DiskFullException e) {
            // nobody has heard of this directory's id: the next attempt draws another one
            files().close();
            membership = null;
            throw e;
        }
        log.info("{}: member {} of cluster {}", disk, options.memberId(), clusterId);
    }

    @Override
    public Recovered recover(RecoveryTarget target) throws IOException {
        return files().recover(snapshots(), target);
    }

    @Override
    public void vote(long term, int votedFor) throws IOException {
        files().vote(term, votedFor);
    }

    @Override
    public void caughtUp() throws IOException {
        files().caughtUp();
    }

    // ---- the log

    @Override
    public Appended roomFor(int entries, long payloadBytes) {
        long bytes = LogFormat.batchBytes(entries, payloadBytes);
        return segments().fits(bytes) || segments().hasSpare() ? Appended.DONE : withoutRoom();
    }

    @Override
    public Appended append(List<LogBatch> batches, long commitIndex) throws IOException {
        if (batches.isEmpty()) {
            return Appended.DONE;
        }
        if (segments().missingSpares(batches) > 0) {
            return withoutRoom();
        }
        snapshots().logged(files().append(batches, commitIndex));
        LogSegments to = segments();
        if (!to.hasSpare() && to.room() < to.currentBytes() - to.currentBytes() / SPARE_AFTER) {
            askForSpare();
        }
        return Appended.DONE;
    }

    @Override
    public void cutAfter(long index) throws IOException {
        files().cutAfter(index);
    }

    private Appended withoutRoom() {
        if (spare == Spare.NO_ROOM) {
            if (!full) {
                full = true;
                log.error("{}: the disk is full; writes are rejected until there is room for another segment", disk);
            }
            return Appended.FULL;
        }
        askForSpare();
        return Appended.WAIT;
    }

    private void askForSpare() {
        if (spare != Spare.NOT_ASKED || segmentWork.isStopping()) {
            return;
        }
        spare = Spare.BEING_MADE;
        makeSpare();
    }

    private void makeSpare() {
        LogFiles in = files();
        long id = in.segments().nextSpareId();
        segmentWork.run(() -> in.createSpare(id, segmentWork::isStopping), this::spareMade, this::spareFailed);
    }

    private void spareMade(Segment segment) {
        segments().adoptSpare(segment);
        if (spare == Spare.NO_ROOM) {
            log.info("{}: there is room again", disk);
            snapshots().scarce(false);
        }
        spare = Spare.NOT_ASKED;
        full = false;
    }

    private void spareFailed(Throwable cause) {
        if (cause instanceof CancelledException) {
            return;
        }
        if (!(cause instanceof DiskFullException)) {
            throw new LogException("making the next segment in " + disk + " failed: " + cause, cause);
        }
        if (spare != Spare.NO_ROOM) {
            spare = Spare.NO_ROOM;
            log.warn(
                    "{}: no room for the next segment; the current one has {} bytes left",
                    disk,
                    segments().room());
            snapshots().scarce(true);
            purge();
        }
        options.delayed().runAfter(options.diskRetryMs(), () -> memberThread.execute(this::retrySpare));
    }

    private void retrySpare() {
        if (spare == Spare.NO_ROOM && !segmentWork.isStopping()) {
            makeSpare();
        }
    }

    // ---- snapshots

    @Override
    public void applied(SnapshotPosition position, Supplier<StateSnapshot> machine) {
        files().committed(position.lastIndex());
        snapshots().applied(position, machine);
        snapshots().takeIfDue();
    }

    @Override
    public void snapshotSoon() {
        snapshots().takeNow();
    }

    @Override
    public void suspectSnapshot(long lastIndex) {
        snapshots().suspect(lastIndex);
    }

    @Override
    public void tick(long nowMs) {
        snapshots().tick(nowMs);
    }

    /** What is being read stays, but not at the price of a full disk. */
    private void purge() {
        long index = snapshots().coveredIndex();
        if (spare != Spare.NO_ROOM) {
            for (OpenLog reader : readers) {
                index = Math.min(index, reader.afterIndex());
            }
        }
        snapshots().deleteInBackground(segments().removeCovered(index));
    }

    @Override
    public @Nullable StoredSnapshot openNewestSnapshot() throws IOException {
        return snapshots().open();
    }

    @Override
    public Optional<StoredLog> openLog(long afterIndex, long term) {
        OptionalLong segment = segments().segmentWith(term == 0 ? afterIndex + 1 : afterIndex);
        if (segment.isEmpty()) {
            return Optional.empty();
        }
        OpenLog reader =
                new OpenLog(disk, clusterId(), new LogPlace(afterIndex, term), segment.getAsLong(), readers::remove);
        readers.add(reader);
        return Optional.of(reader);
    }

    @Override
    public IncomingSnapshot receive(long lastIndex, long lastTerm, long length) throws IOException {
        return snapshots().receive(lastIndex, lastTerm, length, this::install);
    }

    private void install(SnapshotPosition position, String name) throws IOException {
        List<String> obsolete = files().install(position, name, snapshots());
        snapshots().deleteInBackground(obsolete);
        if (!segments().hasSpare()) {
            askForSpare();
        }
    }

    // ---- state and end

    @Override
    public void markEnd() throws IOException {
        files().markEnd();
    }

    @Override
    public void condemn(String reason) throws IOException {
        LogDirectory.condemn(disk, reason);
    }

    @Override
    public DiskState diskState() {
        if (full) {
            return DiskState.FULL;
        }
        return spare == Spare.NO_ROOM ? DiskState.LOW : DiskState.ROOM;
    }

    @Override
    public boolean stopped() {
        background.stop();
        segmentWork.stop();
        return !isWorking();
    }

    private boolean isWorking() {
        return background.isRunning() || segmentWork.isRunning();
    }

    @Override
    public void close(boolean clean) throws IOException {
        Membership open = membership;
        membership = null;
        if (open != null && clean) {
            open.files.markEnd();
        }
        if (isWorking()) {
            log.warn("{}: work in the background goes on; the directory stays locked until the process ends", disk);
            return;
        }
        if (open != null) {
            open.files.close();
        }
        lock.close();
    }
}
