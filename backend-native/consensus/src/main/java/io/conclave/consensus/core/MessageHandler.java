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
    private final Rules rules;
    private final int self;
    private final InputTime time;
    private final TermState termState;
    private final RoleChanges roles;
    private final Outbox outbox;
    private final MemberLog log;
    private final LinkedMembers links;
    private final Following following;
    private final ElectionTimer timer;
    private final Election election;
    private final Conflicts conflicts;
    private final ReadIndexRequests readIndexRequests;

    MessageHandler(
            Rules rules,
            InputTime time,
            TermState termState,
            RoleChanges roles,
            Outbox outbox,
            MemberLog log,
            LinkedMembers links,
            Following following,
            ElectionTimer timer,
            Election election,
            Conflicts conflicts,
            ReadIndexRequests readIndexRequests) {
        this.rules = rules;
        this.self = termState.self();
        this.time = time;
        this.termState = termState;
        this.roles = roles;
        this.outbox = outbox;
        this.log = log;
        this.links = links;
        this.following = following;
        this.timer = timer;
        this.election = election;
        this.conflicts = conflicts;
        this.readIndexRequests = readIndexRequests;
    }

    void receive(int from, PeerMessage message) {
        if (message instanceof OfTerm ofTerm && !rules.isPlausible(ofTerm.term(), termState.term())) {
            conflicts.implausible(from, ofTerm.term());
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
            readIndexRequests.answered(reply.id(), reply.index());
        }
        roles.checkCaughtUp();
    }

    // ---- of the leader

    private void receiveAppend(int from, Append append) {
        if (append.term() < termState.term()) {
            outbox.send(from, new AppendReply(termState.term(), false, append.previousIndex(), 0, 0, append.round()));
            return;
        }
        long differing = following.contradiction(termState.term(), append);
        if (differing >= 0) {
            conflicts.contradict(from, append.term(), differing);
        } else if (!following.fits(append)) {
            conflicts.nonsense(
                    from, "an append behind index " + append.previousIndex() + " whose batches overlap those here");
        } else if (roles.follow(from, append.term())) {
            told(from, append.commitIndex(), following.receive(termState.term(), from, append));
        }
    }

    private void told(int leader, long commitIndex, boolean fits) {
        if (!fits) {
            conflicts.nonsense(leader, "a commit index of " + commitIndex + ", which is in the middle of a batch");
        }
    }

    private void receiveCommit(int from, Commit commit) {
        if (commit.term() == termState.term() && termState.leader() == from && roles.leadership() == null) {
            timer.heardLeader(time.nowMs);
            told(from, commit.commitIndex(), following.committed(commit.commitIndex()));
        }
    }

    private void receiveChunk(int from, SnapshotChunk chunk) {
        if (chunk.term() < termState.term()) {
            outbox.send(from, new SnapshotReply(termState.term(), chunk.lastIndex(), 0, false));
            return;
        }
        if (!roles.follow(from, chunk.term())) {
            return;
        }
        if (rules.wantsSnapshot(chunk.lastIndex(), chunk.lastTerm(), log.commitIndex(), log.window)) {
            outbox.chunk(from, chunk);
        } else {
            outbox.send(from, new SnapshotReply(termState.term(), chunk.lastIndex(), chunk.length(), true));
        }
    }

    /** A member that does not stand says so: the leader takes no proposals until it hears that, or time is up. */
    private void receiveTimeoutNow(int from, TimeoutNow timeout) {
        if (timeout.term() != termState.term() || from != termState.leader() || roles.leadership() != null) {
            return;
        }
        if (election.lacksState()) {
            outbox.send(
                    from,
                    new VoteReply(false, termState.term(), false, termState.isProvisional(), termState.doubtTerm()));
        } else if (election.succeed(time.nowMs)) {
            roles.lead();
        }
    }

    // ---- to the leader

    private void receiveAppendReply(int from, AppendReply reply) {
        LeaderRole leadership = leadershipIn(reply.term());
        if (leadership != null && roles.stillLeads(leadership.receive(time.nowMs, from, reply))) {
            leadership.advance(time.nowMs, time.wallMs);
        }
    }

    private void receiveSnapshotReply(int from, SnapshotReply reply) {
        LeaderRole leadership = leadershipIn(reply.term());
        if (leadership != null) {
            leadership.receive(time.nowMs, from, reply);
        }
    }

    private void receiveReadIndexRequest(int from, ReadIndexRequest request) {
        LeaderRole leadership = roles.leadership();
        if (leadership != null) {
            leadership.readIndex(from, request.id(), request.note());
        }
    }

    private void receiveContradiction(int from, Contradiction contradiction) {
        LeaderRole leadership = roles.leadership();
        if (leadership != null && contradiction.term() == termState.term()) {
            roles.stillLeads(leadership.contradicted(from, contradiction.index()));
        } else {
            conflicts.overruled(from, contradiction);
        }
    }

    /** The leader's part that an answer of the term is for, if there is one; a higher term is entered. */
    private @Nullable LeaderRole leadershipIn(long term) {
        return !roles.enter(term) && term == termState.term() ? roles.leadership() : null;
    }

    // ---- votes

    private void receiveVoteRequest(int from, VoteRequest request) {
        boolean hearsLeader =
                roles.leadership() != null || (termState.leader() != 0 && timer.hasHeardLeader(time.nowMs));
        boolean granted = false;
        if (!rules.refusesForLeader(hearsLeader, request.transfer())) {
            if (!request.pre()) {
                roles.enter(request.term());
            }
            granted = mayGrant(from, request);
        }
        if (granted && !request.pre()) {
            termState.voteFor(from);
            roles.stepDown();
            timer.voted(time.nowMs);
        }
        long answered = granted ? request.term() : termState.term();
        outbox.send(
                from,
                new VoteReply(request.pre(), answered, granted, termState.isProvisional(), termState.doubtTerm()));
    }

    private boolean mayGrant(int from, VoteRequest request) {
        boolean termFits = request.pre()
                ? request.term() > termState.term()
                : request.term() == termState.term() && rules.mayVoteFor(from, termState.votedFor());
        return termFits
                && rules.isAsked(request.voterDirectory(), links.directoryOf(self))
                && rules.isUpToDate(request, log.lastIndex(), log.window.lastTerm());
    }

    private void receiveVoteReply(int from, VoteReply reply) {
        if (!reply.granted()) {
            election.refused(from);
            LeaderRole leadership = leadershipIn(reply.term());
            if (leadership != null) {
                leadership.declined(from);
            }
        } else if (election.granted(time.nowMs, from, reply)) {
            roles.lead();
        }
    }
}
