package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.Append;
import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.entry.LogBatch;

/** What a member owes the leader of its term: appends taken, and acknowledged once they are durable. */
final class Following {
    private final MemberLog log;
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

    Following(MemberLog log, Rules rules, Outbox outbox) {
        this.log = log;
        this.rules = rules;
        this.outbox = outbox;
    }

    /** A new term: what its leader has is not known but for what is committed. */
    void begin(long term) {
        verifiedIndex = log.commitIndex();
        committedBefore = log.window.termAt(log.commitIndex()) < term ? log.commitIndex() : 0;
        toldCommitIndex = 0;
        round = 0;
        replyDue = false;
    }

    /**
     * The index of the first thing in an append that cannot be if the leader has everything that is committed here; -1
     * if there is none. Asked before the leader is followed.
     *
     * @param term this member's
     */
    long contradiction(long term, Append append) {
        long previous = append.previousIndex();
        if (log.window.baseIndex() <= previous
                && previous <= log.commitIndex()
                && rules.differsFromCommitted(previous, append.previousTerm(), log.window)) {
            return previous;
        }
        long before = append.term() > term ? log.commitIndex() : committedBefore;
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
    boolean fits(Append append) {
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

    /** Takes an append that {@link #fits}; whether its commit index does. */
    boolean receive(long term, int leader, Append append) {
        long previous = append.previousIndex();
        if (previous >= log.commitIndex() && !has(previous, append.previousTerm())) {
            refuse(term, leader, append);
            return true;
        }
        long matching = Math.max(previous, log.commitIndex());
        for (LogBatch batch : append.batches()) {
            if (batch.lastIndex() > log.commitIndex()) {
                take(batch);
                matching = batch.lastIndex();
            }
        }
        verifiedIndex = Math.max(verifiedIndex, matching);
        boolean fits = committed(append.commitIndex());
        // a new round is answered at once; batches when they are durable
        replyDue |= append.round() > round || append.batches().isEmpty() || log.durableIndex() >= verifiedIndex;
        round = Math.max(round, append.round());
        return fits;
    }

    /**
     * The leader of the term says that so much is committed; what is not known to be equal here is not yet. False if no
     * batch ends there, so that nothing is done.
     */
    boolean committed(long leaderCommitIndex) {
        long told = Math.max(toldCommitIndex, leaderCommitIndex);
        long commit = Math.min(told, verifiedIndex);
        if (commit > log.commitIndex()) {
            if (!log.window.isBorder(commit)) {
                return false;
            }
            log.commit(commit);
        }
        toldCommitIndex = told;
        return true;
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
    private void refuse(long term, int leader, Append append) {
        long below = Math.min(append.previousIndex(), log.lastIndex());
        long hint = Math.max(log.commitIndex(), log.window.borderAtOrBelow(below, append.previousTerm()));
        outbox.send(
                leader,
                new AppendReply(term, false, append.previousIndex(), hint, log.window.termAt(hint), append.round()));
    }

    void durable() {
        replyDue = true;
    }

    void installed() {
        verifiedIndex = Math.max(verifiedIndex, log.commitIndex());
        replyDue = true;
    }

    /** Sends one answer for all that came since the last. */
    void flush(long term, int leader) {
        if (replyDue && leader != 0) {
            long match = Math.min(verifiedIndex, log.durableIndex());
            outbox.send(leader, new AppendReply(term, true, match, 0, 0, round));
            replyDue = false;
        }
    }

    /** Whether a member whose log was cut has caught up; see {@link Rules#hasCaughtUp}. */
    boolean hasCaughtUp(long term) {
        return toldCommitIndex > 0
                && toldCommitIndex <= log.commitIndex()
                && rules.hasCaughtUp(toldCommitIndex, log.window.termAt(toldCommitIndex), term, log.durableIndex());
    }
}
