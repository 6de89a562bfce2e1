package io.conclave.consensus.member;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.LogException;
import io.conclave.consensus.core.PeerMessage.SnapshotChunk;
import io.conclave.consensus.core.PeerMessage.SnapshotReply;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.store.CancelledException;
import io.conclave.consensus.store.IncomingSnapshot;
import io.conclave.consensus.store.LogStore;
import io.conclave.consensus.store.SnapshotPosition;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Receives a snapshot chunk by chunk, has it checked in the background, and hands it over to be installed. */
final class SnapshotReceiver {
    private static final Logger log = LoggerFactory.getLogger(SnapshotReceiver.class);

    /** The caller's side of it. */
    interface Receiving {
        void send(int to, SnapshotReply reply);

        /** Runs it on the member's thread. */
        void toMember(Runnable action);

        long nowMs();

        /** Whether the snapshot would bring anything new. */
        boolean wants(long lastIndex, long lastTerm);

        /** Makes the log begin behind it. */
        void install(IncomingSnapshot snapshot, SnapshotPosition position) throws IOException;
    }

    private final LogStore store;
    private final Executor background;
    private final long pauseMs;
    private final Receiving receiving;

    private @Nullable IncomingSnapshot incoming;
    private long lastIndex;
    private long lastTerm;
    private long length;
    private boolean checking;

    /** Up to where it is here, written or not. */
    private long arrived;

    private final List<byte[]> unwritten = new ArrayList<>();

    /** Whose chunks are being written. */
    private @Nullable IncomingSnapshot writing;

    /** There was no room before: until then what comes is ignored. */
    private long pausedUntilMs = Long.MIN_VALUE;

    /** The members to be told of the end. */
    private int sender;

    private long term;

    SnapshotReceiver(LogStore store, Executor background, long pauseMs, Receiving receiving) {
        this.store = store;
        this.background = background;
        this.pauseMs = pauseMs;
        this.receiving = receiving;
    }

    void received(int from, SnapshotChunk chunk) throws IOException {
        sender = from;
        term = chunk.term();
        if (!receiving.wants(chunk.lastIndex(), chunk.lastTerm())) {
            receiving.send(from, new SnapshotReply(term, chunk.lastIndex(), chunk.length(), true));
            return;
        }
        if (receiving.nowMs() < pausedUntilMs) {
            return;
        }
        try {
            take(chunk);
        } catch (DiskFullException e) {
            withoutRoom(e);
        }
    }

    private void withoutRoom(Throwable cause) throws IOException {
        log.warn("no room for the snapshot of {} entries; the sender tries again", lastIndex, cause);
        pause();
    }

    /** A later version may have written it. Ending would not help: the same one would come after the next start. */
    private void withoutUse(LogException cause) throws IOException {
        log.error(
                "this member cannot use the snapshot of {} entries that member {} sent, and stays behind: {}",
                lastIndex,
                sender,
                cause.getMessage());
        pause();
    }

    /** What has arrived of it is deleted; the sender gets no answer and asks again at intervals. */
    private void pause() throws IOException {
        pausedUntilMs = receiving.nowMs() + pauseMs;
        discard();
    }

    private void take(SnapshotChunk chunk) throws IOException {
        IncomingSnapshot file = fileFor(chunk);
        if (file == null) {
            return; // another one is being checked; this one is asked for again
        }
        if (!checking && chunk.bytes().length > 0 && chunk.offset() == arrived && arrived < length) {
            arrived += chunk.bytes().length;
            unwritten.add(chunk.bytes());
            write(file);
        } else {
            answer(file);
        }
    }

    private void answer(IncomingSnapshot file) {
        receiving.send(sender, new SnapshotReply(term, lastIndex, file.received(), false));
    }

    /** Elsewhere, for the disk may be slow; a chunk is answered when it is written, so only a few can wait here. */
    private void write(IncomingSnapshot file) {
        if (writing == file) {
            return;
        }
        writing = file;
        List<byte[]> chunks = List.copyOf(unwritten);
        unwritten.clear();
        try {
            background.execute(() -> {
                Throwable failure = failureOf(file, chunks);
                receiving.toMember(failure == null ? () -> written(file) : () -> notWritten(file, failure));
            });
        } catch (RejectedExecutionException e) {
            writing = null;
        }
    }

    private static @Nullable Throwable failureOf(IncomingSnapshot file, List<byte[]> chunks) {
        try {
            for (byte[] chunk : chunks) {
                file.write(chunk);
            }
            return null;
        } catch (IOException | RuntimeException | Error e) {
            return e;
        }
    }

    private void written(IncomingSnapshot file) {
        writing = writing == file ? null : writing;
        if (incoming != file) {
            return;
        }
        answer(file);
        if (!unwritten.isEmpty()) {
            write(file);
        } else if (file.received() == length) {
            check(file);
        }
    }

    private void notWritten(IncomingSnapshot file, Throwable cause) {
        writing = writing == file ? null : writing;
        if (incoming != file || cause instanceof CancelledException) {
            return; // it was given up meanwhile
        }
        if (!(cause instanceof DiskFullException)) {
            throw new LogException("a snapshot that member " + sender + " sends cannot be written: " + cause, cause);
        }
        try {
            withoutRoom(cause);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private @Nullable IncomingSnapshot fileFor(SnapshotChunk chunk) throws IOException {
        IncomingSnapshot file = incoming;
        boolean same = file != null
                && lastIndex == chunk.lastIndex()
                && lastTerm == chunk.lastTerm()
                && length == chunk.length();
        if (same) {
            return file;
        }
        if (checking) {
            return null;
        }
        discard();
        lastIndex = chunk.lastIndex();
        lastTerm = chunk.lastTerm();
        length = chunk.length();
        log.info("receiving a snapshot of {} entries, {} bytes", lastIndex, length);
        arrived = 0;
        incoming = store.receive(lastIndex, lastTerm, length);
        return incoming;
    }

    private void check(IncomingSnapshot file) {
        checking = true;
        try {
            background.execute(() -> {
                try {
                    SnapshotPosition position = file.verify();
                    receiving.toMember(() -> checked(file, position));
                } catch (IOException | RuntimeException | Error e) {
                    receiving.toMember(() -> damaged(e));
                }
            });
        } catch (RejectedExecutionException e) {
            checking = false;
        }
    }

    private void checked(IncomingSnapshot file, SnapshotPosition position) {
        checking = false;
        incoming = null;
        try {
            if (receiving.wants(position.lastIndex(), position.term())) {
                receiving.install(file, position); // the core answers
                return;
            }
            file.discard();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        receiving.send(sender, new SnapshotReply(term, position.lastIndex(), length, true));
    }

    private void damaged(Throwable cause) {
        checking = false;
        try {
            if (cause instanceof DiskFullException || cause.getCause() instanceof DiskFullException) {
                withoutRoom(cause);
                return;
            }
            if (cause instanceof LogException unusable && !(cause instanceof DamagedLogException)) {
                withoutUse(unusable);
                return;
            }
            discard();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (cause instanceof CancelledException) {
            return; // it was given up meanwhile
        }
        if (!(cause instanceof DamagedLogException || cause instanceof UncheckedIOException)) {
            throw new LogException(
                    "the snapshot of " + lastIndex + " entries that member " + sender + " sent cannot be read: "
                            + cause,
                    cause);
        }
        log.warn(
                "the snapshot of {} entries that member {} sent is damaged; it is asked for again",
                lastIndex,
                sender,
                cause);
        receiving.send(sender, SnapshotReply.damaged(term, lastIndex));
    }

    private void discard() throws IOException {
        if (incoming != null) {
            incoming.discard();
            incoming = null;
        }
        unwritten.clear();
    }
}
