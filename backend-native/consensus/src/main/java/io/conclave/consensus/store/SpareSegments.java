package io.conclave.consensus.store;

import io.conclave.consensus.DiskState;
import io.conclave.consensus.LogException;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.store.LogStore.Appended;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the next segment of the log ahead of need, and so knows whether the disk has room. A full disk is met here:
 * before anything depends on the segment.
 *
 * <pre>
 *   IDLE --ask--&gt; BEING_MADE --made--&gt; IDLE
 *                     |                  ^
 *                     +--no room--&gt; NO_ROOM, tried again every diskRetryMs until it is made
 * </pre>
 *
 * <p>Owned by the member's thread. The segments are made on an executor of their own: the log must not wait for a
 * snapshot when it needs its next segment.
 */
final class SpareSegments {
    private static final Logger log = LoggerFactory.getLogger(SpareSegments.class);

    /** The next segment is made when this part of the current one is used. */
    private static final int SPARE_AFTER = 4;

    private enum State {
        IDLE,
        BEING_MADE,
        NO_ROOM
    }

    private final Disk disk;
    private final LogOptions options;
    private final Executor memberThread;
    private final Background work;
    private final Supplier<LogFiles> files;
    private final Consumer<Boolean> scarce;
    private State state = State.IDLE;

    /** A write was refused since there was no room. */
    private boolean full;

    /**
     * None is made yet.
     *
     * @param files of the member, once it has some
     * @param scarce is called when the disk has no room for the next segment, and when it has again
     */
    SpareSegments(
            Disk disk, LogOptions options, Executor memberThread, Supplier<LogFiles> files, Consumer<Boolean> scarce) {
        this.disk = disk;
        this.options = options;
        this.memberThread = memberThread;
        this.work = new Background(options.segmentWork(), memberThread);
        this.files = files;
        this.scarce = scarce;
    }

    /** Whether the disk has no room for the next segment. */
    boolean isScarce() {
        return state == State.NO_ROOM;
    }

    DiskState diskState() {
        if (full) {
            return DiskState.FULL;
        }
        return isScarce() ? DiskState.LOW : DiskState.ROOM;
    }

    /** A write does not fit: it waits for the next segment, or is refused while there is no room for that. */
    Appended withoutRoom() {
        if (!isScarce()) {
            ask();
            return Appended.WAIT;
        }
        if (!full) {
            full = true;
            log.error("{}: the disk is full; writes are rejected until there is room for another segment", disk);
        }
        return Appended.FULL;
    }

    /** Something was written: asks for the next segment when enough of the current one is used. */
    void written() {
        LogSegments segments = files.get().segments();
        long part = segments.currentBytes() / SPARE_AFTER;
        if (!segments.hasSpare() && segments.room() < segments.currentBytes() - part) {
            ask();
        }
    }

    /** The log begins in another segment. */
    void restarted() {
        if (!files.get().segments().hasSpare()) {
            ask();
        }
    }

    private void ask() {
        if (state == State.IDLE && !work.isStopping()) {
            state = State.BEING_MADE;
            make();
        }
    }

    private void make() {
        LogFiles in = files.get();
        long id = in.segments().nextSpareId();
        work.run(() -> in.createSpare(id, work::isStopping), this::made, this::failed);
    }

    private void made(Segment segment) {
        files.get().segments().adoptSpare(segment);
        if (isScarce()) {
            log.info("{}: there is room again", disk);
            scarce.accept(false);
        }
        state = State.IDLE;
        full = false;
    }

    private void failed(Throwable cause) {
        if (cause instanceof CancelledException) {
            return;
        }
        if (!(cause instanceof DiskFullException)) {
            throw new LogException("making the next segment in " + disk + " failed: " + cause, cause);
        }
        if (!isScarce()) {
            state = State.NO_ROOM;
            log.warn(
                    "{}: no room for the next segment; the current one has {} bytes left",
                    disk,
                    files.get().segments().room());
            scarce.accept(true);
        }
        options.delayed().runAfter(options.diskRetryMs(), () -> memberThread.execute(this::retry));
    }

    private void retry() {
        if (isScarce() && !work.isStopping()) {
            make();
        }
    }

    // ---- the end

    /** Makes no more, and gives up the one that is being made. */
    void stop() {
        work.stop();
    }

    boolean isWorking() {
        return work.isRunning();
    }
}
