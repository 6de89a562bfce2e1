package io.conclave.consensus.store;

import io.conclave.consensus.DiskState;
import io.conclave.consensus.LogException;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.entry.DiskClaim;
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
 * Keeps a member's log in {@link LogFiles}, with its {@link SpareSegments} and its {@link Snapshots}, and decides what
 * is purged. Slow work runs on the background executor; its result comes back to the member's thread, which owns all
 * state.
 */
public final class FileStore implements LogStore {
    private static final Logger log = LoggerFactory.getLogger(FileStore.class);
    private static final UUID NO_CLUSTER = new UUID(0, 0);

    /** What a member has. */
    private record Membership(DirectoryIdentity identity, LogFiles files, Snapshots snapshots) {}

    private final Disk disk;
    private final LogOptions options;
    private final Background background;
    private final SpareSegments spares;
    private final Closeable lock;
    private @Nullable Membership membership;

    /** Open ones. */
    private final List<OpenLog> readers = new ArrayList<>();

    private FileStore(Disk disk, LogOptions options, Executor memberThread, Closeable lock) {
        this.disk = disk;
        this.options = options;
        this.background = new Background(options.background(), memberThread);
        this.spares = new SpareSegments(disk, options, memberThread, this::files, this::scarce);
        this.lock = lock;
    }

    /**
     * Locks the directory and learns whose it is; an empty one is bootstrapped as a new cluster if the options say so.
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
            DirectoryIdentity identity = LogDirectory.identify(disk, options).orElse(null);
            if (identity != null) {
                store.begin(identity);
            }
            return store;
        } catch (IOException | RuntimeException e) {
            lock.close();
            throw e;
        }
    }

    private void begin(DirectoryIdentity identity) throws IOException {
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
    public boolean isBootstrappedHere() {
        return membership != null && membership.identity.bootstrappedHere();
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
            // no member has heard of this directory's id: the next attempt draws another one
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
        return segments().fits(bytes) || segments().hasSpare() ? Appended.DONE : spares.withoutRoom();
    }

    @Override
    public Appended append(List<LogBatch> batches, long commitIndex) throws IOException {
        if (batches.isEmpty()) {
            return Appended.DONE;
        }
        if (segments().missingSpares(batches) > 0) {
            return spares.withoutRoom();
        }
        snapshots().logged(files().append(batches, commitIndex));
        spares.written();
        return Appended.DONE;
    }

    @Override
    public void cutAfter(long index) throws IOException {
        files().cutAfter(index);
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

    private void scarce(boolean scarce) {
        snapshots().scarce(scarce);
        if (scarce) {
            purge();
        }
    }

    /** What is being read stays, but not at the price of a full disk. */
    private void purge() {
        long index = snapshots().coveredIndex();
        if (!spares.isScarce()) {
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
    public boolean isWritingSnapshot() {
        return snapshots().isWriting();
    }

    @Override
    public IncomingSnapshot receive(long lastIndex, long lastTerm, long length) throws IOException {
        return snapshots().receive(lastIndex, lastTerm, length, this::install);
    }

    private void install(SnapshotPosition position, String name) throws IOException {
        List<String> obsolete = files().install(position, name, snapshots());
        snapshots().deleteInBackground(obsolete);
        spares.restarted();
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
    public Optional<DiskClaim> claim() throws IOException {
        return LogDirectory.claim(disk);
    }

    @Override
    public void suspect(DiskClaim claim) throws IOException {
        LogDirectory.suspect(disk, claim);
    }

    @Override
    public DiskState diskState() {
        return spares.diskState();
    }

    @Override
    public boolean stopped() {
        background.stop();
        spares.stop();
        return !isWorking();
    }

    private boolean isWorking() {
        return background.isRunning() || spares.isWorking();
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
