package io.conclave.consensus;

import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFullException;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps batches in {@link LogFiles}, and decides when the next segment is made, when a snapshot is taken and what is
 * purged. Slow work runs on the background executor; its result comes back to the log's thread, which owns all state.
 *
 * <p>A full disk is met when the next segment is made, ahead of need: before anything depends on it.
 */
final class FileStore implements LogStore {
    private static final Logger log = LoggerFactory.getLogger(FileStore.class);

    /** The next segment is made when this part of the current one is used. */
    private static final int SPARE_AFTER = 4;

    private enum Spare {
        NOT_ASKED,
        BEING_MADE,
        NO_ROOM
    }

    /** A task for the background. */
    private interface Background<T> {
        T run() throws IOException;
    }

    private final Disk disk;
    private final LogOptions options;
    private final Consumer<Runnable> toLogThread;
    private @Nullable LogFiles files;

    private Spare spare = Spare.NOT_ASKED;
    private boolean full;
    private int running;

    /** Read by tasks in the background, which end early then. */
    private volatile boolean stopping;

    private boolean snapshotRunning;
    private long entriesSinceSnapshot;
    private long bytesSinceSnapshot;

    FileStore(Disk disk, LogOptions options, Consumer<Runnable> toLogThread) {
        this.disk = disk;
        this.options = options;
        this.toLogThread = toLogThread;
    }

    @Override
    public LogTail recover(StateMachine machine) throws IOException {
        LogFiles opened = LogFiles.open(disk, options);
        files = opened;
        machine.begin(opened.clusterId());
        return opened.recover(machine, batch -> {
            count(batch);
            machine.apply(batch);
        });
    }

    private LogFiles files() {
        if (files == null) {
            throw new IllegalStateException("the log has not been recovered");
        }
        return files;
    }

    @Override
    public UUID clusterId() {
        return files().clusterId();
    }

    @Override
    public long enterNextTerm() throws IOException {
        long term = files().nextTerm();
        files().enterTerm(term);
        return term;
    }

    @Override
    public Appended append(CommittedBatch batch) throws IOException {
        LogFiles to = files();
        if (!to.fits(batch)) {
            if (!to.hasSpare()) {
                return withoutRoom();
            }
            to.roll();
        }
        to.append(batch);
        if (!to.hasSpare() && to.room() < to.currentBytes() - to.currentBytes() / SPARE_AFTER) {
            askForSpare();
        }
        return Appended.DONE;
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
        if (spare != Spare.NOT_ASKED || stopping) {
            return;
        }
        spare = Spare.BEING_MADE;
        makeSpare();
    }

    private void makeSpare() {
        LogFiles in = files();
        long id = in.nextSpareId();
        inBackground(() -> in.createSpare(id, () -> stopping), this::spareMade, this::spareFailed);
    }

    private void spareMade(Segment segment) {
        files().adoptSpare(segment);
        if (spare == Spare.NO_ROOM) {
            log.info("{}: there is room again", disk);
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
            log.warn("{}: no room for the next segment; the current one has {} bytes left", disk, files().room());
        }
        options.delayed().runAfter(options.diskRetryMs(), () -> toLogThread.accept(this::retrySpare));
    }

    private void retrySpare() {
        if (spare == Spare.NO_ROOM && !stopping) {
            makeSpare();
        }
    }

    @Override
    public void applied(CommittedBatch batch, StateMachine machine) {
        count(batch);
        boolean due = entriesSinceSnapshot >= options.snapshotEveryEntries()
                || bytesSinceSnapshot >= options.snapshotEveryBytes();
        if (due && !snapshotRunning && !stopping) {
            takeSnapshot(machine);
        }
    }

    private void count(CommittedBatch batch) {
        entriesSinceSnapshot += batch.entries().size();
        bytesSinceSnapshot += LogFormat.wholeSectors(BatchEncoder.bytesOf(batch));
    }

    private void takeSnapshot(StateMachine machine) {
        entriesSinceSnapshot = 0;
        bytesSinceSnapshot = 0;
        snapshotRunning = true;
        LogFiles to = files();
        SnapshotMark mark = to.mark();
        StateSnapshot state = machine.snapshot();
        inBackground(
                () -> {
                    to.writeSnapshot(mark, state, () -> stopping);
                    return mark;
                },
                this::snapshotWritten,
                this::snapshotFailed);
    }

    private void snapshotWritten(SnapshotMark mark) {
        snapshotRunning = false;
        LogFiles in = files();
        List<String> obsolete = in.adoptSnapshot(mark);
        log.debug("{}: snapshot at index {}, deleting {}", disk, mark.lastIndex(), obsolete);
        if (!obsolete.isEmpty()) {
            inBackground(
                    () -> {
                        in.delete(obsolete);
                        return obsolete;
                    },
                    deleted -> {},
                    cause -> log.warn("{}: cannot delete {}", disk, obsolete, cause));
        }
    }

    private void snapshotFailed(Throwable cause) {
        snapshotRunning = false;
        if (cause instanceof CancelledException) {
            return;
        }
        if (cause instanceof BrokenDiskException) {
            throw new LogException("writing a snapshot in " + disk + " failed: " + cause.getMessage(), cause);
        } else if (cause instanceof DiskFullException) {
            log.warn("{}: no room for a snapshot; going on without it", disk);
        } else {
            log.error("{}: a snapshot could not be written; going on without it", disk, cause);
        }
    }

    private <T> void inBackground(Background<T> task, Consumer<T> done, Consumer<Throwable> failed) {
        running++;
        try {
            options.background().execute(() -> {
                Runnable outcome;
                try {
                    T result = task.run();
                    outcome = () -> done.accept(result);
                } catch (IOException | RuntimeException | Error e) {
                    outcome = () -> failed.accept(e);
                }
                Runnable finished = outcome;
                toLogThread.accept(() -> {
                    running--;
                    finished.run();
                });
            });
        } catch (RejectedExecutionException e) {
            running--;
            failed.accept(e);
        }
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
        stopping = true;
        return running == 0;
    }

    @Override
    public void close(boolean clean) throws IOException {
        LogFiles open = files;
        files = null;
        if (open == null) {
            return;
        }
        if (clean) {
            open.markEnd();
        }
        if (running > 0) {
            log.warn("{}: work in the background goes on; the directory stays locked until the process ends", disk);
            return;
        }
        open.close();
    }
}
