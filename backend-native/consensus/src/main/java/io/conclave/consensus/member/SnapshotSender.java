package io.conclave.consensus.member;

import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.PeerMessage.SnapshotPiece;
import io.conclave.consensus.store.LogStore;
import io.conclave.consensus.store.StoredSnapshot;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends snapshots to members that the log in memory does not reach back to. Pieces are read in the background, a few ahead
 * of what was answered; the receiver says where to go on, so that a broken link costs a piece or two.
 */
final class SnapshotSender {
    private static final Logger log = LoggerFactory.getLogger(SnapshotSender.class);
    static final int PIECE_BYTES = 1 << 20;
    private static final int WINDOW_PIECES = 4;

    /** Whom it works for. */
    interface Sending {
        long term();

        void send(int to, PeerMessage message);

        /** Tells the core. */
        void sending(int to, long lastIndex, boolean failed);

        /** Runs it on the member's thread. */
        void toMember(Runnable action);
    }

    /** One snapshot on its way to one member. */
    private static final class Transfer {
        final int to;
        final StoredSnapshot snapshot;
        final long term;
        long acknowledged;
        long next;
        boolean probing = true;
        boolean reading;
        boolean over;
        long heardMs;

        Transfer(int to, StoredSnapshot snapshot, long term, long nowMs) {
            this.to = to;
            this.snapshot = snapshot;
            this.term = term;
            this.heardMs = nowMs;
        }
    }

    private final LogStore store;
    private final Executor background;
    private final Sending sending;
    private final long silenceMs;
    private final Map<Integer, Transfer> transfers = new HashMap<>();

    /** The newest snapshot that each member is known to have had from here. */
    private final Map<Integer, Long> installed = new HashMap<>();

    /** Members for whom there is no snapshot yet. */
    private final Map<Integer, Long> waiting = new HashMap<>();

    SnapshotSender(LogStore store, Executor background, Sending sending, long silenceMs) {
        this.store = store;
        this.background = background;
        this.sending = sending;
        this.silenceMs = silenceMs;
    }

    /** The core wants the member to get a snapshot. */
    void wanted(int to, long nowMs) throws IOException {
        if (!transfers.containsKey(to)) {
            begin(to, nowMs);
        }
    }

    private void begin(int to, long nowMs) throws IOException {
        StoredSnapshot snapshot = store.openNewestSnapshot();
        if (snapshot == null || snapshot.lastIndex() <= installed.getOrDefault(to, 0L)) {
            if (snapshot != null) {
                snapshot.close();
            }
            store.snapshotSoon();
            waiting.put(to, nowMs);
            return;
        }
        waiting.remove(to);
        Transfer transfer = new Transfer(to, snapshot, sending.term(), nowMs);
        transfers.put(to, transfer);
        sending.sending(to, snapshot.lastIndex(), false);
        log.info("sending member {} the snapshot of {} entries, {} bytes", to, snapshot.lastIndex(), snapshot.length());
        probe(transfer);
    }

    /** Asks how much of it is there. */
    private void probe(Transfer transfer) {
        transfer.probing = true;
        sending.send(transfer.to, pieceOf(transfer, 0, new byte[0]));
    }

    private static SnapshotPiece pieceOf(Transfer transfer, long offset, byte[] bytes) {
        StoredSnapshot snapshot = transfer.snapshot;
        return new SnapshotPiece(
                transfer.term, snapshot.lastIndex(), snapshot.lastTerm(), snapshot.length(), offset, bytes);
    }

    void answered(int from, PeerMessage.SnapshotReply reply, long nowMs) {
        Transfer transfer = transfers.get(from);
        if (transfer == null || transfer.snapshot.lastIndex() != reply.lastIndex() || transfer.term != reply.term()) {
            return;
        }
        transfer.heardMs = nowMs;
        if (reply.installed()) {
            installed.put(from, reply.lastIndex());
            end(transfer);
            return;
        }
        if (transfer.probing || reply.received() < transfer.acknowledged) {
            transfer.probing = false;
            transfer.next = reply.received();
        }
        transfer.acknowledged = reply.received();
        transfer.next = Math.max(transfer.next, transfer.acknowledged);
        readOn(transfer);
    }

    private void readOn(Transfer transfer) {
        boolean windowFull = transfer.next - transfer.acknowledged >= (long) WINDOW_PIECES * PIECE_BYTES;
        if (transfer.over || transfer.reading || windowFull || transfer.next >= transfer.snapshot.length()) {
            return;
        }
        transfer.reading = true;
        long offset = transfer.next;
        int length = (int) Math.min(PIECE_BYTES, transfer.snapshot.length() - offset);
        inBackground(transfer, () -> read(transfer.snapshot, offset, length), bytes -> {
            transfer.reading = false;
            if (transfer.over) {
                close(transfer);
            } else if (bytes == null) {
                fail(transfer);
            } else {
                if (transfer.next == offset) {
                    sending.send(transfer.to, pieceOf(transfer, offset, bytes));
                    transfer.next = offset + bytes.length;
                }
                readOn(transfer);
            }
        });
    }

    private interface Reading {
        byte[] run() throws IOException;
    }

    private void inBackground(Transfer transfer, Reading reading, Consumer<byte @Nullable []> then) {
        try {
            background.execute(() -> {
                byte[] bytes = readOrNull(transfer, reading);
                sending.toMember(() -> then.accept(bytes));
            });
        } catch (RejectedExecutionException e) {
            then.accept(null);
        }
    }

    private static byte @Nullable [] readOrNull(Transfer transfer, Reading reading) {
        try {
            return reading.run();
        } catch (IOException | RuntimeException e) {
            log.warn("the snapshot of {} entries cannot be read", transfer.snapshot.lastIndex(), e);
            return null;
        }
    }

    private static byte[] read(StoredSnapshot snapshot, long offset, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        if (snapshot.read(bytes, offset) < length) {
            throw new IOException("the snapshot ends before byte " + (offset + length));
        }
        return bytes.array();
    }

    private void fail(Transfer transfer) {
        end(transfer);
        sending.sending(transfer.to, transfer.snapshot.lastIndex(), true);
    }

    private void end(Transfer transfer) {
        transfers.remove(transfer.to, transfer);
        transfer.over = true;
        if (!transfer.reading) {
            close(transfer);
        }
    }

    private static void close(Transfer transfer) {
        try {
            transfer.snapshot.close();
        } catch (IOException e) {
            log.warn("closing a snapshot failed", e);
        }
    }

    /** There is a new link to the member: what was sent may be lost. */
    void linked(int to) {
        installed.remove(to);
        Transfer transfer = transfers.get(to);
        if (transfer != null) {
            probe(transfer);
        }
    }

    /** Looks after those that wait for a snapshot to be made, and those that have gone silent. */
    void tick(long nowMs) throws IOException {
        for (int to : waiting.keySet().toArray(new Integer[0])) {
            begin(to, nowMs);
        }
        for (Transfer transfer : transfers.values().toArray(new Transfer[0])) {
            if (nowMs - transfer.heardMs > silenceMs) {
                transfer.heardMs = nowMs;
                probe(transfer);
            }
        }
    }

    boolean isIdle() {
        return transfers.isEmpty() && waiting.isEmpty();
    }

    /** Leadership is over, or the member ends. */
    void clear() {
        for (Transfer transfer : transfers.values().toArray(new Transfer[0])) {
            end(transfer);
        }
        waiting.clear();
        installed.clear();
    }
}
