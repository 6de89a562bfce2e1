package io.conclave.consensus.member;

import io.conclave.consensus.LogException;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.store.IncomingSnapshot;
import io.conclave.consensus.store.LogStore;
import io.conclave.consensus.store.StoredLog;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the state of an installed snapshot into the machine, without a second heap for it: the old state is dropped,
 * the new one is read in the background once nothing holds on to the old one, and what came behind the snapshot
 * meanwhile is applied. Of that only the end waits in memory; the rest is read back from the log's files.
 *
 * <pre>
 *   IDLE --installed--&gt; WAITING --old state let go--&gt; READING --read--&gt; APPLYING --caught up--&gt; IDLE
 *                          ^                             |                 |
 *                          +------ another snapshot is installed ----------+
 * </pre>
 */
final class StateLoader {
    private static final Logger log = LoggerFactory.getLogger(StateLoader.class);

    /**
     * Most that waits in memory, and that is read back at once: it is applied in one turn, and heartbeats have to wait
     * for that.
     */
    private static final int WAITING_BYTES = 1 << 20;

    private enum Phase {
        IDLE,
        WAITING,
        READING,
        APPLYING
    }

    private final LogStore store;
    private final StateMachine machine;
    private final LogApplier applier;
    private final LogWriter writer;
    private final Executor background;
    private final Executor memberThread;
    private final BackgroundReader logReader;
    private final Consumer<LogBatch> apply;

    private Phase phase = Phase.IDLE;

    /** What the log begins with; in all phases but IDLE. */
    private @Nullable IncomingSnapshot installed;

    /** Whether a thread is reading a state, be it that of a snapshot which another one has replaced since. */
    private boolean busy;

    /** What is left to the files. */
    private @Nullable Behind behind;

    /** The log behind the snapshot, in the files. */
    private static final class Behind {
        final StoredLog source;
        boolean reading;
        boolean over;

        Behind(StoredLog source) {
            this.source = source;
        }

        void close() {
            over = true;
            if (!reading) { // else it is closed when that has ended
                StateLoader.close(source);
            }
        }
    }

    private static void close(Closeable file) {
        try {
            file.close();
        } catch (IOException e) {
            log.warn("closing a file that was read failed", e);
        }
    }

    /** @param apply applies the batch that follows the last applied one */
    StateLoader(
            LogStore store,
            StateMachine machine,
            LogApplier applier,
            LogWriter writer,
            Executor background,
            Executor memberThread,
            Consumer<LogBatch> apply) {
        this.store = store;
        this.machine = machine;
        this.applier = applier;
        this.writer = writer;
        this.background = background;
        this.memberThread = memberThread;
        this.logReader = new BackgroundReader(background, memberThread);
        this.apply = apply;
    }

    /** Whether the machine has not got the state yet that is to be served. */
    boolean isLoading() {
        return phase != Phase.IDLE;
    }

    /** The log begins behind this snapshot now, durably. */
    void begin(IncomingSnapshot snapshot) {
        end();
        machine.drop();
        installed = snapshot;
        phase = Phase.WAITING;
    }

    /** Gives up what is under way; what is read of it in the background ends soon. */
    void end() {
        if (installed != null) {
            close(installed::discard);
            installed = null;
        }
        if (behind != null) {
            behind.close();
            behind = null;
        }
        phase = Phase.IDLE;
    }

    /**
     * Goes on, in each turn; to be called instead of applying.
     *
     * @param tailBytes how much may wait in memory
     * @return whether it has just come to its end
     */
    boolean goOn(long commitIndex, long tailBytes) {
        leaveToFiles(commitIndex, Math.min(tailBytes, WAITING_BYTES));
        if (phase == Phase.WAITING && !busy && !store.isWritingSnapshot()) {
            read();
        }
        if (phase == Phase.APPLYING && (behind == null || !behind.reading)) {
            if (applier.index() >= writer.leftIndex()) {
                log.info(
                        "the state of the snapshot is read, and the log behind it is applied up to {}",
                        applier.index());
                end();
                return true;
            }
            readLog();
        }
        return false;
    }

    /** In a store without files everything waits in memory. */
    private void leaveToFiles(long commitIndex, long tailBytes) {
        if (!writer.isBeyond(tailBytes)) {
            return;
        }
        if (behind == null) {
            behind = store.openLog(applier.index(), 0).map(Behind::new).orElse(null);
        }
        if (behind != null) {
            writer.leaveToFiles(commitIndex, tailBytes);
        }
    }

    // ---- the state

    /** Keeps what puts the state in place. */
    private final class Reader {
        private @Nullable Runnable swap;

        void read(IncomingSnapshot snapshot) throws IOException {
            snapshot.read(in -> {
                try {
                    swap = machine.read(in);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    private void read() {
        IncomingSnapshot snapshot = installed;
        if (snapshot == null) {
            throw new IllegalStateException("nothing is installed");
        }
        phase = Phase.READING;
        busy = true;
        log.info("reading the state of the snapshot of {} entries", applier.index());
        try {
            background.execute(() -> {
                Consumer<IncomingSnapshot> outcome = outcomeOf(snapshot);
                memberThread.execute(() -> {
                    busy = false;
                    outcome.accept(snapshot);
                });
            });
        } catch (RejectedExecutionException e) {
            throw failure(e);
        }
    }

    /** Errors count, too: a member that is out of memory must fail and not wait. */
    private Consumer<IncomingSnapshot> outcomeOf(IncomingSnapshot snapshot) {
        Reader reader = new Reader();
        try {
            reader.read(snapshot);
            Runnable swap = reader.swap;
            if (swap == null) {
                throw new IllegalStateException("the state machine read nothing");
            }
            return of -> wasRead(of, swap);
        } catch (IOException | RuntimeException | Error e) {
            return of -> failed(of, e);
        }
    }

    private void wasRead(IncomingSnapshot snapshot, Runnable swap) {
        if (installed == snapshot) {
            swap.run();
            phase = Phase.APPLYING;
        }
    }

    private void failed(IncomingSnapshot snapshot, Throwable cause) {
        if (installed == snapshot) { // else it was given up, and may have failed of that
            throw failure(cause);
        }
    }

    private LogException failure(Throwable cause) {
        return new LogException(
                "the state of the snapshot of " + applier.index() + " entries, with which this member's log begins now,"
                        + " cannot be read: " + cause
                        + ". Give the process more memory if that is what it lacks, or start"
                        + " the version that the other members run; if the same happens again, run set-aside",
                cause);
    }

    // ---- what follows it

    private void readLog() {
        Behind from = behind;
        if (from == null) {
            throw new IllegalStateException("the log behind index " + applier.index() + " is not kept anywhere");
        }
        long upTo = writer.leftIndex();
        from.reading = true;
        logReader.read(
                "the log behind index " + applier.index(),
                () -> from.source.read(upTo, WAITING_BYTES),
                batches -> wasRead(from, batches));
    }

    private void wasRead(Behind from, Optional<List<LogBatch>> batches) {
        from.reading = false;
        if (from.over) {
            from.close();
        } else if (batches.isEmpty() || batches.get().isEmpty()) {
            throw new LogException("the log behind index " + applier.index()
                    + ", which this member has written, cannot be read again");
        } else {
            batches.get().forEach(apply);
        }
    }
}
