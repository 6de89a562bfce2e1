package io.conclave.consensus.store;

import io.conclave.consensus.DiskState;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.entry.DiskClaim;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.Start;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Forgets everything when it is closed: each start is that of an empty directory with a new id, so a member that comes
 * back has no vote until the others have taken it in again. Keeps the newest snapshot that another member asked for;
 * batches are not kept, since they are never read from here.
 */
public final class MemoryLogStore implements LogStore {
    private static final UUID NO_CLUSTER = new UUID(0, 0);

    private final LogOptions options;
    private final Background background;
    private final MemoryDisk disk = new MemoryDisk();
    private final boolean bootstrappedHere;
    private UUID clusterId = NO_CLUSTER;
    private long directory;
    private @Nullable Snapshots snapshots;

    /** Ends of the batches that may still be cut, and before them that of the last committed one. */
    private final Deque<Long> ends = new ArrayDeque<>(List.of(0L));

    private long committed;

    /**
     * A new one; it bootstraps a new cluster if the options say so.
     *
     * @param memberThread brings outcomes of background work to the member's thread
     */
    public MemoryLogStore(LogOptions options, Executor memberThread) {
        this.options = options;
        this.background = new Background(options.background(), memberThread);
        this.bootstrappedHere = options.bootstrap();
        if (bootstrappedHere) {
            begin(options.clusterIds().get());
        }
    }

    private void begin(UUID cluster) {
        clusterId = cluster;
        directory = LogDirectory.directoryId(options);
        snapshots = new Snapshots(disk, cluster, options, 1, background, directory, () -> {});
    }

    private Snapshots snapshots() {
        if (snapshots == null) {
            throw new IllegalStateException("this member belongs to no cluster yet");
        }
        return snapshots;
    }

    @Override
    public boolean isMember() {
        return snapshots != null;
    }

    @Override
    public boolean isBootstrappedHere() {
        return bootstrappedHere;
    }

    @Override
    public long directory() {
        return directory;
    }

    @Override
    public UUID clusterId() {
        return clusterId;
    }

    @Override
    public void adopt(UUID cluster) {
        if (snapshots != null) {
            throw new IllegalStateException("this member belongs to cluster " + clusterId + " already");
        }
        begin(cluster);
    }

    @Override
    public Recovered recover(RecoveryTarget target) {
        snapshots();
        return new Recovered(
                0,
                0,
                0,
                0,
                List.of(),
                false,
                0,
                new Start(directory, 1, options.directoryIds().getAsLong()));
    }

    @Override
    public void vote(long term, int votedFor) {}

    @Override
    public void caughtUp() {}

    @Override
    public void markEnd() {}

    @Override
    public Appended roomFor(int entries, long payloadBytes) {
        return Appended.DONE;
    }

    @Override
    public Appended append(List<LogBatch> batches, long commitIndex) {
        for (LogBatch batch : batches) {
            if (batch.firstIndex() != ends.getLast() + 1) {
                throw new IllegalArgumentException(batch + " cannot follow index " + ends.getLast());
            }
            ends.add(batch.lastIndex());
        }
        committed(commitIndex);
        return Appended.DONE;
    }

    private void committed(long index) {
        committed = Math.max(committed, Math.min(index, ends.getLast()));
        while (ends.size() > 1) {
            long first = ends.removeFirst();
            if (ends.getFirst() > committed) {
                ends.addFirst(first);
                return;
            }
        }
    }

    @Override
    public void cutAfter(long index) {
        if (index < committed) {
            throw new IllegalStateException(
                    "the log cannot be cut behind index " + index + ": it is committed up to " + committed);
        }
        if (!ends.contains(index)) {
            throw new IllegalArgumentException(
                    "index " + index + " is not the end of a batch; the log ends at " + ends.getLast());
        }
        while (ends.getLast() > index) {
            ends.removeLast();
        }
    }

    @Override
    public void applied(SnapshotPosition position, Supplier<StateSnapshot> machine) {
        committed(position.lastIndex());
        snapshots().applied(position, machine);
    }

    @Override
    public void snapshotSoon() {
        snapshots().takeNow();
    }

    @Override
    public void tick(long nowMs) {}

    @Override
    public void suspectSnapshot(long lastIndex) {
        snapshots().suspect(lastIndex);
    }

    @Override
    public @Nullable StoredSnapshot openNewestSnapshot() throws IOException {
        return snapshots().open();
    }

    @Override
    public Optional<StoredLog> openLog(long afterIndex, long term) {
        return Optional.empty();
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
        if (position.lastIndex() <= committed) {
            throw new IllegalStateException("a snapshot of index " + position.lastIndex()
                    + " cannot replace a log that is committed up to " + committed);
        }
        snapshots().installed(position, name);
        ends.clear();
        ends.add(position.lastIndex());
        committed = position.lastIndex();
    }

    @Override
    public void condemn(String reason) {}

    /** It is gone with the log. */
    @Override
    public Optional<DiskClaim> claim() {
        return Optional.empty();
    }

    @Override
    public void suspect(DiskClaim claim) {}

    @Override
    public DiskState diskState() {
        return DiskState.ROOM;
    }

    @Override
    public boolean stopped() {
        background.stop();
        return !background.isRunning();
    }

    @Override
    public void close(boolean clean) {}
}
