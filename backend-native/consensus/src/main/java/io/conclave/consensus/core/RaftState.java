package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.ReadIndexRequest;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A member's parts, each of which knows one thing, the time of its last input, and its role: it enters a higher term,
 * follows a leader, leads, or steps down, and tells every part that depends on the role of the change. It has the
 * leader's part as long as it leads.
 */
final class RaftState {
    /** How many election timeouts the only voter of a cluster waits for the others before it leads. */
    private static final int SOLE_VOTER_PATIENCE = 2;

    final CoreOptions options;
    final Rules rules;
    final int self;
    final TermState termState;
    final Outbox outbox;
    final MemberLog log;
    final Conflicts conflicts;
    final LinkedMembers links;
    final Following following;
    final ElectionTimer timer;
    final Election election;
    final ReadIndexRequests readIndexRequests;
    private final Acknowledgements acknowledgements = new Acknowledgements();
    private @Nullable LeaderRole leadership;

    /** The caller's monotonic clock at the last input, in milliseconds: what the member does, it does at that time. */
    long nowMs;

    /** The caller's wall clock at the last {@link Core#tick}, or at a later proposal. */
    long wallMs;

    /** A member that has recovered. */
    RaftState(CoreOptions options, CoreStart start, RandomGenerator random, long nowMs, Rules rules) {
        this.options = options;
        this.rules = rules;
        this.nowMs = nowMs;
        self = start.member();
        termState = new TermState(start);
        long lastIndex = start.rest().isEmpty()
                ? start.baseIndex()
                : start.rest().get(start.rest().size() - 1).lastIndex();
        outbox = new Outbox(termState.vote(), lastIndex, termState.isProvisional());
        log = new MemberLog(start, options, outbox);
        conflicts = new Conflicts(self, termState, log, outbox);
        links = new LinkedMembers(self, start.directory(), log.configurations, rules);
        following = new Following(termState, log, conflicts, rules, outbox);
        timer = new ElectionTimer(options, random, nowMs);
        election = new Election(
                start,
                nowMs + SOLE_VOTER_PATIENCE * options.electionTimeoutMs(),
                rules,
                termState,
                timer,
                log,
                following,
                links,
                outbox);
        readIndexRequests = new ReadIndexRequests(outbox);
    }

    /** The leader's part; null while this member does not lead. */
    @Nullable
    LeaderRole leadership() {
        return leadership;
    }

    /** The leader's part, for what only a leader can do. */
    LeaderRole leadershipFor(String what) {
        if (leadership == null) {
            throw new IllegalStateException("member " + self + " cannot " + what + " as " + termState);
        }
        return leadership;
    }

    /** Keeps what the members have acknowledged, beyond what this leadership knows of each. */
    void rememberAcknowledgements() {
        if (leadership != null) {
            leadership.remember(acknowledgements);
        }
    }

    /** See {@link Core#acknowledgedIndex}. */
    long acknowledgedIndex(int member, long itsDirectory) {
        return acknowledgements.of(member, itsDirectory);
    }

    /** Follows the leader; false if there is another one in its term, which is followed already. */
    boolean follow(int newLeader, long itsTerm) {
        enter(itsTerm);
        int leader = termState.leader();
        if (leadership != null || (leader != 0 && leader != newLeader)) {
            conflicts.twoLeaders(leader, newLeader);
            return false;
        }
        if (termState.role() != CoreRole.FOLLOWER) {
            termState.become(CoreRole.FOLLOWER);
        }
        timer.heardLeader(nowMs);
        if (leader == 0) {
            termState.follow(newLeader);
            election.over();
            sendReadIndexRequests();
        }
        return true;
    }

    /** Leaves its term for a higher one; whether that was one. */
    boolean enter(long higherTerm) {
        if (higherTerm <= termState.term()) {
            return false;
        }
        termState.enter(higherTerm);
        stepDown();
        following.begin();
        return true;
    }

    /** Takes in what its leadership says of itself: steps down if it is over. */
    boolean stillLeads(boolean leads) {
        if (!leads) {
            stepDown();
        }
        return leads;
    }

    /** Becomes a follower without a leader. */
    void stepDown() {
        if (leadership != null) {
            timer.deposed(nowMs, leadership.heardMajorityMs(nowMs));
            rememberAcknowledgements();
            leadership = null;
            following.begin();
        }
        termState.become(CoreRole.FOLLOWER);
        termState.follow(0);
    }

    /** The election is won. */
    void lead() {
        termState.become(CoreRole.LEADER);
        termState.follow(self);
        election.leads(termState.term());
        leadership = new LeaderRole(
                self, termState.term(), options, rules, outbox, log, links, conflicts, readIndexRequests);
        leadership.begin(nowMs, wallMs);
        sendReadIndexRequests();
    }

    /** A member whose log was cut has caught up, with the leader or as the leader: its vote counts again. */
    void checkCaughtUp() {
        if (termState.isProvisional() && (leadership == null ? following.hasCaughtUp() : leadership.hasCaughtUp())) {
            termState.markCaughtUp();
        }
    }

    /** Asks the leader for the read indexes that this member waits for. */
    void sendReadIndexRequests() {
        readIndexRequests.sendAll(nowMs, this::sendReadIndexRequest);
    }

    /** Asks the leader, which there is, for a read index. */
    void sendReadIndexRequest(long id, byte[] note) {
        if (leadership != null) {
            leadership.readIndex(self, id, note);
        } else {
            outbox.send(termState.leader(), new ReadIndexRequest(id, note));
        }
    }
}
