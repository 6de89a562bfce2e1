package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.Append;
import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.core.PeerMessage.SnapshotChunk;
import io.conclave.consensus.core.PeerMessage.SnapshotReply;
import io.conclave.consensus.entry.LogBatch;

/** What a member owes the leader of its term: appends taken, and acknowledged once they are durable; snapshots. */
final class Following {
    private final TermState termState;
    private final MemberLog log;
    private final Conflicts conflicts;
    private final Rules rules;
    private final Outbox outbox;

    /** Up to here our log is equal to that of the term's leader, durable or not. */
    private long verifiedIndex;
    /** The highest commit index that the term's leader has sent; 0 if it sent none. */
    private long toldCommitIndex;

    private long round;
    private boolean replyDue;

    /** What was committed here before this term began; 0 if that is not known, since this member restarted in it. */
    private long committedBefore;

    Following(TermState termState, MemberLog log, Conflicts conflicts, Rules rules, Outbox outbox) {
        this.termState = termState;
        this.log = log;
        this.conflicts = conflicts;
        this.rules = rules;
        this.outbox = outbox;
        begin();
    }

    /** A new term: what its leader has is not known but for what is committed. */
    void begin() {
        verifiedIndex = log.commitIndex();
        committedBefore = log.window.termAt(log.commitIndex()) < termState.term() ? log.commitIndex() : 0;
        toldCommitIndex = 0;
        round = 0;
        replyDue = false;
    }

    /**
     * Whether an append may be a leader's of this term or a later one. One of a former term is answered; one that no
     * leader can send is complained of.
     */
    boolean accepts(int from, Append append) {
        if (append.term() < termState.term()) {
            outbox.send(from, new AppendReply(termState.term(), false, append.previousIndex(), 0, 0, append.round()));
            return false;
        }
        long differing = contradiction(append);
        if (differing >= 0) {
            conflicts.contradict(from, append.term(), differing);
            return false;
        }
        if (!fits(append)) {
            conflicts.nonsense(
                    from, "an append behind index " + append.previousIndex() + " whose batches overlap those here");
            return false;
        }
        return true;
    }

    /**
     * The index of the first thing in an append that cannot be if the leader has everything that is committed here; -1
     * if there is none.
     */
    private long contradiction(Append append) {
        long previous = append.previousIndex();
        if (log.window.baseIndex() <= previous
                && previous <= log.commitIndex()
                && rules.differsFromCommitted(previous, append.previousTerm(), log.window)) {
            return previous;
        }
        long before = append.term() > termState.term() ? log.commitIndex() : committedBefore;
        for (LogBatch batch : append.batches()) {
            if (batch.firstIndex() > log.commitIndex()) {
                break;
            }
            if (rules.differsFromCommitted(batch, log.window) || rules.isTooEarly(batch, append.term(), before)) {
                return batch.firstIndex();
            }
        }
        return -1;
    }

    /**
     * Whether the batches of an append that would be taken lie where batches of this log begin and end, as those of any
     * leader do behind an equal place.
     */
    private boolean fits(Append append) {
        long previous = append.previousIndex();
        if (previous >= log.commitIndex() && !has(previous, append.previousTerm())) {
            return true; // it is refused
        }
        long end = log.lastIndex();
        for (LogBatch batch : append.batches()) {
            if (batch.lastIndex() <= log.commitIndex()) {
                continue;
            }
            if (batch.firstIndex() > end) {
                if (batch.firstIndex() != end + 1) {
                    return false;
                }
                end = batch.lastIndex();
            } else if (!log.window.isBorder(batch.firstIndex() - 1)) {
                return false;
            } else if (rules.mustCut(log.window.batchWith(batch.firstIndex()), batch)) {
                end = batch.lastIndex();
            } else if (log.window.batchWith(batch.firstIndex()).lastIndex() != batch.lastIndex()) {
                return false;
            }
        }
        return true;
    }

    /** Takes an append that was accepted, of the leader that is followed. */
    void receive(int leader, Append append) {
        long previous = append.previousIndex();
        if (previous >= log.commitIndex() && !has(previous, append.previousTerm())) {
            refuse(leader, append);
            return;
        }
        long matching = Math.max(previous, log.commitIndex());
        for (LogBatch batch : append.batches()) {
            if (batch.lastIndex() > log.commitIndex()) {
                take(batch);
                matching = batch.lastIndex();
            }
        }
        verifiedIndex = Math.max(verifiedIndex, matching);
        committed(leader, append.commitIndex());
        // a new round is answered at once; batches when they are durable
        replyDue |= append.round() > round || append.batches().isEmpty() || log.durableIndex() >= verifiedIndex;
        round = Math.max(round, append.round());
    }

    /** The leader of the term says that so much is committed; what is not known to be equal here is not yet. */
    void committed(int leader, long leaderCommitIndex) {
        long told = Math.max(toldCommitIndex, leaderCommitIndex);
        long commit = Math.min(told, verifiedIndex);
        if (commit > log.commitIndex()) {
            if (!log.window.isBorder(commit)) {
                conflicts.nonsense(
                        leader, "a commit index of " + leaderCommitIndex + ", which is in the middle of a batch");
                return;
            }
            log.commit(commit);
        }
        toldCommitIndex = told;
    }

    private boolean has(long index, long term) {
        return log.window.isBorder(index) && log.window.termAt(index) == term;
    }

    private void take(LogBatch batch) {
        if (batch.firstIndex() <= log.lastIndex()) {
            if (!rules.mustCut(log.window.batchWith(batch.firstIndex()), batch)) {
                return;
            }
            log.cutAfter(batch.firstIndex() - 1);
        }
        log.append(batch);
    }

    /**
     * Fast back-up: of a term that the leader's entry there does not have, everything is passed over. What is committed
     * here is equal to the leader's.
     */
    private void refuse(int leader, Append append) {
        long below = Math.min(append.previousIndex(), log.lastIndex());
        long hint = Math.max(log.commitIndex(), log.window.borderAtOrBelow(below, append.previousTerm()));
        outbox.send(
                leader,
                new AppendReply(
                        termState.term(),
                        false,
                        append.previousIndex(),
                        hint,
                        log.window.termAt(hint),
                        append.round()));
    }

    void durable() {
        replyDue = true;
    }

    /** Sends one answer for all appends that came since the last. */
    void flush() {
        if (replyDue && termState.leader() != 0) {
            long match = Math.min(verifiedIndex, log.durableIndex());
            outbox.send(termState.leader(), new AppendReply(termState.term(), true, match, 0, 0, round));
            replyDue = false;
        }
    }

    /** Whether a member whose log was cut has caught up; see {@link Rules#hasCaughtUp}. */
    boolean hasCaughtUp() {
        return termState.leader() != 0
                && toldCommitIndex > 0
                && toldCommitIndex <= log.commitIndex()
                && rules.hasCaughtUp(
                        toldCommitIndex, log.window.termAt(toldCommitIndex), termState.term(), log.durableIndex());
    }

    // ---- snapshots

    /** As {@link #accepts(int, Append)}, for a chunk of a snapshot. */
    boolean accepts(int from, SnapshotChunk chunk) {
        if (chunk.term() < termState.term()) {
            outbox.send(from, new SnapshotReply(termState.term(), chunk.lastIndex(), 0, false));
            return false;
        }
        return true;
    }

    /** Hands on a chunk that was accepted, of the leader that is followed, or says that the snapshot is not wanted. */
    void receive(int leader, SnapshotChunk chunk) {
        if (wantsSnapshot(chunk.lastIndex(), chunk.lastTerm())) {
            outbox.chunk(leader, chunk);
        } else {
            outbox.send(leader, new SnapshotReply(termState.term(), chunk.lastIndex(), chunk.length(), true));
        }
    }

    /** See {@link Core#wantsSnapshot}. */
    boolean wantsSnapshot(long lastIndex, long lastTerm) {
        return rules.wantsSnapshot(lastIndex, lastTerm, log.commitIndex(), log.window);
    }

    /** A snapshot up to there is installed. */
    void installed(long lastIndex) {
        verifiedIndex = Math.max(verifiedIndex, log.commitIndex());
        replyDue = true;
        if (termState.leader() != 0) {
            outbox.send(termState.leader(), new SnapshotReply(termState.term(), lastIndex, 0, true));
        }
    }
}
