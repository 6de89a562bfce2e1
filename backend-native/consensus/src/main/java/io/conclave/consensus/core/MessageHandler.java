package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.Append;
import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.core.PeerMessage.Commit;
import io.conclave.consensus.core.PeerMessage.Contradiction;
import io.conclave.consensus.core.PeerMessage.OfTerm;
import io.conclave.consensus.core.PeerMessage.ReadIndexReply;
import io.conclave.consensus.core.PeerMessage.ReadIndexRequest;
import io.conclave.consensus.core.PeerMessage.SnapshotChunk;
import io.conclave.consensus.core.PeerMessage.SnapshotReply;
import io.conclave.consensus.core.PeerMessage.TimeoutNow;
import io.conclave.consensus.core.PeerMessage.VoteReply;
import io.conclave.consensus.core.PeerMessage.VoteRequest;
import org.jspecify.annotations.Nullable;

/**
 * What a member does about each message of another: it ignores or answers one of a former term, follows or votes, or
 * gives an answer to the leader's part that waits for it.
 */
final class MessageHandler {
    private final RaftState raft;

    MessageHandler(RaftState raft) {
        this.raft = raft;
    }

    void receive(int from, PeerMessage message) {
        if (message instanceof OfTerm ofTerm && !raft.rules.isPlausible(ofTerm.term(), raft.termState.term())) {
            raft.conflicts.implausible(from, ofTerm.term());
            return;
        }
        if (message instanceof Append append) {
            receiveAppend(from, append);
        } else if (message instanceof AppendReply reply) {
            receiveAppendReply(from, reply);
        } else if (message instanceof Commit commit) {
            receiveCommit(from, commit);
        } else if (message instanceof VoteRequest request) {
            receiveVoteRequest(from, request);
        } else if (message instanceof VoteReply reply) {
            receiveVoteReply(from, reply);
        } else if (message instanceof SnapshotChunk chunk) {
            receiveChunk(from, chunk);
        } else if (message instanceof SnapshotReply reply) {
            receiveSnapshotReply(from, reply);
        } else if (message instanceof TimeoutNow timeout) {
            receiveTimeoutNow(from, timeout);
        } else if (message instanceof ReadIndexRequest request) {
            receiveReadIndexRequest(from, request);
        } else if (message instanceof Contradiction contradiction) {
            receiveContradiction(from, contradiction);
        } else if (message instanceof ReadIndexReply reply) {
            raft.readIndexRequests.answered(reply.id(), reply.index());
        }
        raft.checkCaughtUp();
    }

    // ---- of the leader

    private void receiveAppend(int from, Append append) {
        if (raft.following.accepts(from, append) && raft.follow(from, append.term())) {
            raft.following.receive(from, append);
        }
    }

    private void receiveCommit(int from, Commit commit) {
        if (commit.term() == raft.termState.term() && raft.termState.leader() == from && raft.leadership() == null) {
            raft.timer.heardLeader(raft.nowMs);
            raft.following.committed(from, commit.commitIndex());
        }
    }

    private void receiveChunk(int from, SnapshotChunk chunk) {
        if (raft.following.accepts(from, chunk) && raft.follow(from, chunk.term())) {
            raft.following.receive(from, chunk);
        }
    }

    /** A member that does not stand says so: the leader takes no proposals until it hears that, or time is up. */
    private void receiveTimeoutNow(int from, TimeoutNow timeout) {
        if (raft.election.lacksState()) {
            decline(from, timeout);
        } else if (isOfLeader(from, timeout) && raft.election.succeed(raft.nowMs)) {
            raft.lead();
        }
    }

    /** See {@link Core#decline}. */
    void decline(int from, TimeoutNow timeout) {
        if (isOfLeader(from, timeout)) {
            raft.outbox.send(from, raft.termState.voteReply(false, raft.termState.term(), false));
        }
    }

    private boolean isOfLeader(int from, TimeoutNow timeout) {
        return timeout.term() == raft.termState.term() && from == raft.termState.leader() && raft.leadership() == null;
    }

    // ---- to the leader

    private void receiveAppendReply(int from, AppendReply reply) {
        LeaderRole leadership = leadershipIn(reply.term());
        if (leadership != null && raft.stillLeads(leadership.receive(raft.nowMs, from, reply))) {
            leadership.advance(raft.nowMs, raft.wallMs);
        }
    }

    private void receiveSnapshotReply(int from, SnapshotReply reply) {
        LeaderRole leadership = leadershipIn(reply.term());
        if (leadership != null) {
            leadership.receive(raft.nowMs, from, reply);
        }
    }

    private void receiveReadIndexRequest(int from, ReadIndexRequest request) {
        LeaderRole leadership = raft.leadership();
        if (leadership != null) {
            leadership.readIndex(from, request.id(), request.note());
        }
    }

    private void receiveContradiction(int from, Contradiction contradiction) {
        LeaderRole leadership = raft.leadership();
        if (leadership != null && contradiction.term() == raft.termState.term()) {
            raft.stillLeads(leadership.contradicted(from, contradiction.index()));
        } else {
            raft.conflicts.overruled(from, contradiction);
        }
    }

    /** The leader's part that an answer of the term is for, if there is one; a higher term is entered. */
    private @Nullable LeaderRole leadershipIn(long term) {
        return !raft.enter(term) && term == raft.termState.term() ? raft.leadership() : null;
    }

    // ---- votes

    private void receiveVoteRequest(int from, VoteRequest request) {
        boolean hearsLeader =
                raft.leadership() != null || (raft.termState.leader() != 0 && raft.timer.hasHeardLeader(raft.nowMs));
        boolean granted = false;
        if (!raft.rules.refusesForLeader(hearsLeader, request.transfer())) {
            if (!request.pre()) {
                raft.enter(request.term());
            }
            granted = mayGrant(from, request);
        }
        if (granted && !request.pre()) {
            raft.termState.voteFor(from);
            raft.stepDown();
            raft.timer.voted(raft.nowMs);
        }
        long answered = granted ? request.term() : raft.termState.term();
        raft.outbox.send(from, raft.termState.voteReply(request.pre(), answered, granted));
    }

    private boolean mayGrant(int from, VoteRequest request) {
        boolean termFits = request.pre()
                ? request.term() > raft.termState.term()
                : request.term() == raft.termState.term() && raft.rules.mayVoteFor(from, raft.termState.votedFor());
        return termFits
                && raft.rules.isAsked(request.voterDirectory(), raft.links.directoryOf(raft.self))
                && raft.rules.isUpToDate(request, raft.log.lastIndex(), raft.log.window.lastTerm());
    }

    private void receiveVoteReply(int from, VoteReply reply) {
        if (!reply.granted()) {
            raft.election.refused(from);
            LeaderRole leadership = leadershipIn(reply.term());
            if (leadership != null) {
                leadership.declined(from);
            }
        } else if (raft.election.granted(raft.nowMs, from, reply)) {
            raft.lead();
        }
    }
}
