package io.conclave.consensus.member;

import io.conclave.consensus.LogOptions;
import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.EntryPlace;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.core.PeerMessage.SnapshotChunk;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.store.LogStore;
import io.conclave.consensus.store.StoredLog;
import io.conclave.consensus.store.StoredSnapshot;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings members forward that the log in memory does not reach back to: by a {@link LogFeed} from the files, or else by
 * a snapshot. Chunks are read in the background, a few ahead of what was answered; the receiver says where to go on, so
 * that a broken link costs a chunk or two. What has left the memory meanwhile follows by a {@link LogFeed}.
 */
final class SnapshotSender implements LogFeed.Feeding {
    private static final Logger log = LoggerFactory.getLogger(SnapshotSender.class);
    static final int CHUNK_BYTES = 1 << 20;
    private static final int WINDOW_CHUNKS = 4;

    private static final int PATIENCE_INTERVALS = 30;

    /** One snapshot on its way to one member. */
    private static final class Transfer {
        final int to;
        final StoredSnapshot snapshot;
        /** What follows it; stays as long as this is open. */
        final Optional<StoredLog> behind;

        final long term;
        long acknowledged;
        long next;
        boolean probing = true;
        boolean reading;
        boolean over;
        long askedMs;

        Transfer(int to, StoredSnapshot snapshot, Optional<StoredLog> behind, long term, long nowMs) {
            this.to = to;
            this.snapshot = snapshot;
            this.behind = behind;
            this.term = term;
            this.askedMs = nowMs;
        }
    }

    private final LogStore store;
    private final Core core;
    private final PeerLinks links;
    private final LogApplier applier;
    private final BackgroundReader reader;
    private final LongSupplier turnMs;
    private final long silenceMs;

    /** By member that there is a link to: its directory. */
    private final Map<Integer, Long> linked = new HashMap<>();

    private final Map<Integer, Transfer> transfers = new HashMap<>();
    private final Map<Integer, LogFeed> feeds = new HashMap<>();

    /** Members that the files alone did not help, on the present link. */
    private final Set<Integer> notFed = new HashSet<>();

    /** When each of those was last heard. */
    private final Map<Integer, Long> heardMs = new HashMap<>();

    /** The newest snapshot that each member is known to have had from here. */
    private final Map<Integer, Long> installed = new HashMap<>();

    /** Members that wait for a snapshot to be made, and the newest one when they began to. */
    private final Map<Integer, Long> waiting = new HashMap<>();

    /** @param turnMs the time of the member's turn */
    SnapshotSender(
            LogOptions options,
            LogStore store,
            Core core,
            PeerLinks links,
            LogApplier applier,
            Executor memberThread,
            LongSupplier turnMs) {
        this.store = store;
        this.core = core;
        this.links = links;
        this.applier = applier;
        this.reader = new BackgroundReader(options.background(), memberThread);
        this.turnMs = turnMs;
        this.silenceMs = options.electionTimeoutMs();
    }

    /** The core wants the member to get a snapshot. */
    void wanted(int to, long nowMs) throws IOException {
        if (linked.containsKey(to)
                && !transfers.containsKey(to)
                && !feeds.containsKey(to)
                && !feedFromFiles(to, nowMs)) {
            begin(to, nowMs);
        }
    }

    /** A member that has a part of the log needs no snapshot if the files reach back to that. */
    private boolean feedFromFiles(int to, long nowMs) {
        EntryPlace place = core.placeOf(to);
        if (place.index() == 0 || place.index() >= applier.index() || notFed.contains(to)) {
            return false;
        }
        Optional<StoredLog> source = store.openLog(place.index(), place.term());
        if (source.isEmpty()) {
            return false;
        }
        LogFeed feed = new LogFeed(to, place.index(), place.term(), source.get(), reader, this);
        feeds.put(to, feed);
        heardMs.put(to, nowMs);
        waiting.remove(to);
        tell(to, place.index(), false);
        log.info("sending member {} the log behind index {} from the files", to, place.index());
        feed.readOn();
        return true;
    }

    private void begin(int to, long nowMs) throws IOException {
        StoredSnapshot snapshot = store.openNewestSnapshot();
        long index = snapshot == null ? 0 : snapshot.lastIndex();
        Optional<StoredLog> behind = snapshot == null ? Optional.empty() : store.openLog(index, 0);
        boolean leadsOn = behind.isPresent() || core.isInMemory(index);
        // the log may outrun each one that is made, so that a new one is as good as it gets
        boolean isNew = waiting.containsKey(to) && index > waiting.get(to);
        if (snapshot == null || index <= installed.getOrDefault(to, 0L) || !(leadsOn || isNew)) {
            close(snapshot, behind);
            store.snapshotSoon();
            waiting.putIfAbsent(to, index);
            return;
        }
        waiting.remove(to);
        Transfer transfer = new Transfer(to, snapshot, behind, core.term(), nowMs);
        transfers.put(to, transfer);
        heardMs.put(to, nowMs);
        tell(to, index, false);
        log.info("sending member {} the snapshot of {} entries, {} bytes", to, index, snapshot.length());
        probe(transfer);
    }

    /** Asks how much of it is there. */
    private void probe(Transfer transfer) {
        transfer.probing = true;
        send(transfer.to, chunkOf(transfer, 0, new byte[0]));
    }

    private void send(int to, SnapshotChunk chunk) {
        links.send(to, chunk);
        links.flush();
    }

    private static SnapshotChunk chunkOf(Transfer transfer, long offset, byte[] bytes) {
        StoredSnapshot snapshot = transfer.snapshot;
        return new SnapshotChunk(
                transfer.term, snapshot.lastIndex(), snapshot.lastTerm(), snapshot.length(), offset, bytes);
    }

    void answered(int from, PeerMessage.SnapshotReply reply, long nowMs) {
        Transfer transfer = transfers.get(from);
        if (transfer == null || transfer.snapshot.lastIndex() != reply.lastIndex() || transfer.term != reply.term()) {
            return;
        }
        heardMs.put(from, nowMs);
        transfer.askedMs = nowMs;
        if (reply.installed()) {
            installed.put(from, reply.lastIndex());
            installed(transfer);
            return;
        }
        if (reply.isDamaged()) {
            log.warn(
                    "member {} says that the snapshot of {} entries that it was sent is damaged; it is checked here",
                    from,
                    reply.lastIndex());
            suspect(transfer);
            return;
        }
        if (reply.received() < transfer.acknowledged) {
            // what it had is lost: it begins with the newest one, so that no transfer keeps the log behind it without
            // end
            fail(transfer);
            return;
        }
        if (transfer.probing) {
            transfer.probing = false;
            transfer.next = reply.received();
        }
        transfer.acknowledged = reply.received();
        transfer.next = Math.max(transfer.next, transfer.acknowledged);
        readOn(transfer);
    }

    private void readOn(Transfer transfer) {
        boolean windowFull = transfer.next - transfer.acknowledged >= (long) WINDOW_CHUNKS * CHUNK_BYTES;
        if (transfer.over || transfer.reading || windowFull || transfer.next >= transfer.snapshot.length()) {
            return;
        }
        transfer.reading = true;
        long offset = transfer.next;
        int length = (int) Math.min(CHUNK_BYTES, transfer.snapshot.length() - offset);
        String what = "the snapshot of " + transfer.snapshot.lastIndex() + " entries";
        reader.read(what, () -> read(transfer.snapshot, offset, length), bytes -> {
            transfer.reading = false;
            if (transfer.over) {
                close(transfer.snapshot, Optional.empty());
            } else if (bytes.isEmpty()) {
                suspect(transfer);
            } else {
                if (transfer.next == offset) {
                    send(transfer.to, chunkOf(transfer, offset, bytes.get()));
                    transfer.next = offset + length;
                }
                readOn(transfer);
            }
        });
    }

    private static byte[] read(StoredSnapshot snapshot, long offset, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        if (snapshot.read(bytes, offset) < length) {
            throw new IOException("the snapshot ends before byte " + (offset + length));
        }
        return bytes.array();
    }

    /** The core goes on from there, if it has what follows in memory. */
    private void installed(Transfer transfer) {
        if (transfer.behind.isEmpty() || !core.isBehind(transfer.to)) {
            end(transfer);
            return;
        }
        StoredSnapshot snapshot = transfer.snapshot;
        LogFeed feed = new LogFeed(
                transfer.to, snapshot.lastIndex(), snapshot.lastTerm(), transfer.behind.get(), reader, this);
        endSnapshot(transfer);
        feeds.put(transfer.to, feed);
        notFed.remove(transfer.to);
        log.info("sending member {} the log behind the snapshot of {} entries", feed.to(), snapshot.lastIndex());
        feed.readOn();
    }

    /** An answer to an append, after the core has seen it. */
    void answered(int from, AppendReply reply, long nowMs) {
        LogFeed feed = feeds.get(from);
        if (feed == null || reply.term() != core.term()) {
            return;
        }
        heardMs.put(from, nowMs);
        if (core.isBehind(from)) {
            feed.answered(reply);
        } else {
            end(feed);
        }
    }

    /** The file may be damaged: until the store knows, the member is sent no more of it. */
    private void suspect(Transfer transfer) {
        store.suspectSnapshot(transfer.snapshot.lastIndex());
        fail(transfer);
    }

    private void fail(Transfer transfer) {
        end(transfer);
        tell(transfer.to, transfer.snapshot.lastIndex(), true);
    }

    /** Tells the core that the snapshot is on its way, or that it is not any more. */
    private void tell(int to, long lastIndex, boolean failed) {
        core.snapshotSending(turnMs.getAsLong(), to, lastIndex, failed);
    }

    @Override
    public long readableIndex() {
        return applier.index();
    }

    @Override
    public void append(int to, long previousIndex, long previousTerm, List<LogBatch> batches) {
        core.appendStored(turnMs.getAsLong(), to, previousIndex, previousTerm, batches);
    }

    /** The core asks for the member again, which is then sent a snapshot. */
    @Override
    public void failed(LogFeed feed) {
        notFed.add(feed.to());
        end(feed);
        tell(feed.to(), 0, true);
    }

    private void end(Transfer transfer) {
        endSnapshot(transfer);
        close(null, transfer.behind);
    }

    private void endSnapshot(Transfer transfer) {
        transfers.remove(transfer.to, transfer);
        transfer.over = true;
        if (!transfer.reading) {
            close(transfer.snapshot, Optional.empty());
        }
    }

    private void end(LogFeed feed) {
        feeds.remove(feed.to(), feed);
        feed.end();
    }

    private static void close(@Nullable StoredSnapshot snapshot, Optional<StoredLog> behind) {
        try {
            if (snapshot != null) {
                snapshot.close();
            }
            if (behind.isPresent()) {
                behind.get().close();
            }
        } catch (IOException e) {
            log.warn("closing files that were read failed", e);
        }
    }

    /** There is a new link to the member: what was sent may be lost. */
    void linked(int to, long directory) {
        notFed.remove(to);
        Long before = linked.put(to, directory);
        if (before == null || before != directory) {
            installed.remove(to);
        }
        if (transfers.containsKey(to)) {
            probe(transfers.get(to));
        } else if (feeds.containsKey(to)) {
            feeds.get(to).send();
        }
    }

    /** Answers of the member may be lost. Those to chunks are asked for now and then anyway. */
    void inboundLost(int from) {
        LogFeed feed = feeds.get(from);
        if (feed != null) {
            feed.answerLost();
        }
    }

    void linkDown(int to) {
        linked.remove(to);
        waiting.remove(to);
    }

    /** Looks after those that wait for a snapshot to be made, and those that have gone silent. */
    void tick(long nowMs) throws IOException {
        for (int to : List.copyOf(waiting.keySet())) {
            begin(to, nowMs);
        }
        for (Transfer transfer : List.copyOf(transfers.values())) {
            if (isGivenUp(transfer.to, nowMs)) {
                fail(transfer);
            } else if (nowMs - transfer.askedMs > silenceMs) {
                transfer.askedMs = nowMs;
                probe(transfer);
            }
        }
        for (LogFeed feed : List.copyOf(feeds.values())) {
            if (isGivenUp(feed.to(), nowMs)) {
                failed(feed);
            }
        }
    }

    /** It is no member any more, or has come forward without us, or says nothing. */
    private boolean isGivenUp(int member, long nowMs) {
        return !core.isBehind(member) || nowMs - heardMs.getOrDefault(member, nowMs) > PATIENCE_INTERVALS * silenceMs;
    }

    /** Leadership is over, or the member ends. */
    void clear() {
        List.copyOf(transfers.values()).forEach(this::end);
        List.copyOf(feeds.values()).forEach(this::end);
        heardMs.clear();
        waiting.clear();
        notFed.clear();
        installed.clear();
    }
}
