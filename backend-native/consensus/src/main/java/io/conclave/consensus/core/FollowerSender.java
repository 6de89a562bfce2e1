package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.Append;
import io.conclave.consensus.core.PeerMessage.Commit;
import io.conclave.consensus.entry.LogBatch;
import java.util.List;

/**
 * Sends the followers of one term what they lack: batches, within bounds, the commit index and heartbeats; and asks for
 * a snapshot where the batches are not in memory any more.
 */
final class FollowerSender {
    private final long term;
    private final CoreOptions options;
    private final Outbox outbox;
    private final MemberLog log;
    private final Followers followers;

    FollowerSender(long term, CoreOptions options, Outbox outbox, MemberLog log, Followers followers) {
        this.term = term;
        this.options = options;
        this.outbox = outbox;
        this.log = log;
        this.followers = followers;
    }

    /**
     * Sends to each follower what is due.
     *
     * @param round the present round of read indexes, which every follower is to acknowledge
     */
    void sendAll(long nowMs, long round) {
        long silenceMs = heartbeatAfterMs(nowMs);
        followers.forEach((member, peer) -> send(nowMs, member, peer, round, silenceMs));
    }

    /**
     * After how long a silence a member gets a heartbeat in this turn: when one is due for anybody, the others get
     * theirs, too, so that this member is not woken for each of them.
     */
    private long heartbeatAfterMs(long nowMs) {
        boolean isDue = nowMs - followers.oldestSentMs() >= options.heartbeatMs();
        return isDue ? options.heartbeatMs() / 2 : options.heartbeatMs();
    }

    private void send(long nowMs, int to, PeerProgress peer, long round, long silenceMs) {
        if (peer.state != PeerProgress.State.SNAPSHOT && peer.nextIndex - 1 < log.window.baseIndex()) {
            peer.wantSnapshot(nowMs - options.electionTimeoutMs());
        }
        boolean sent = false;
        switch (peer.state) {
            case PROBE -> sent = probe(nowMs, to, peer, round);
            case REPLICATE -> sent = replicate(nowMs, to, peer, round);
            case SNAPSHOT -> askForSnapshot(nowMs, to, peer);
        }
        if (!sent && (peer.sentRound < round || nowMs - peer.sentMs >= silenceMs)) {
            long previous = peer.state == PeerProgress.State.SNAPSHOT ? log.window.baseIndex() : peer.nextIndex - 1;
            sendAppend(nowMs, to, peer, round, previous, log.window.termAt(previous), List.of());
        } else if (peer.state == PeerProgress.State.REPLICATE && peer.sentCommitIndex < log.commitIndex()) {
            // no heartbeat, for it is not answered: one of those comes in its time anyway
            outbox.send(to, new Commit(term, log.commitIndex()));
            peer.sentCommitIndex = log.commitIndex();
        }
    }

    private boolean probe(long nowMs, int to, PeerProgress peer, long round) {
        if (peer.probing) {
            return false;
        }
        peer.probing = true;
        sendNext(nowMs, to, peer, round, nextBatches(peer));
        return true;
    }

    private boolean replicate(long nowMs, int to, PeerProgress peer, long round) {
        boolean sent = false;
        while (peer.nextIndex <= log.lastIndex() && peer.hasRoom(options)) {
            List<LogBatch> batches = nextBatches(peer);
            long bytes = batches.stream().mapToLong(LogBatch::bytesWithOverhead).sum();
            sendNext(nowMs, to, peer, round, batches);
            peer.sent(batches.get(batches.size() - 1).lastIndex(), bytes);
            sent = true;
        }
        return sent;
    }

    private List<LogBatch> nextBatches(PeerProgress peer) {
        return log.window.after(peer.nextIndex - 1, options.appendBytes());
    }

    private void askForSnapshot(long nowMs, int to, PeerProgress peer) {
        if (nowMs - peer.snapshotMs >= options.electionTimeoutMs()) {
            peer.snapshotMs = nowMs;
            outbox.snapshotWanted(to);
        }
    }

    private void sendNext(long nowMs, int to, PeerProgress peer, long round, List<LogBatch> batches) {
        long previous = peer.nextIndex - 1;
        sendAppend(nowMs, to, peer, round, previous, log.window.termAt(previous), batches);
    }

    private void sendAppend(
            long nowMs,
            int to,
            PeerProgress peer,
            long round,
            long previous,
            long previousTerm,
            List<LogBatch> batches) {
        outbox.send(to, new Append(term, previous, previousTerm, log.commitIndex(), round, batches));
        peer.sentMs = nowMs;
        peer.sentCommitIndex = log.commitIndex();
        peer.sentRound = round;
    }

    /** Sends a follower that is behind committed batches from elsewhere. */
    void sendStored(long nowMs, int to, long round, long previousIndex, long previousTerm, List<LogBatch> batches) {
        PeerProgress peer = followers.find(to);
        if (peer != null) {
            sendAppend(nowMs, to, peer, round, previousIndex, previousTerm, batches);
        }
    }
}
