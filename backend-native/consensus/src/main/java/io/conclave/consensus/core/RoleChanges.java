package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.ReadIndexRequest;
import org.jspecify.annotations.Nullable;

/**
 * How a member goes from one role to another: it enters a higher term, follows a leader, leads, or steps down. It has
 * the leader's part as long as the member leads, and tells everything that depends on the role of the change.
 */
final class RoleChanges {
    private final CoreOptions options;
    private final Rules rules;
    private final int self;
    private final InputTime time;
    private final TermState termState;
    private final Outbox outbox;
    private final MemberLog log;
    private final LinkedMembers links;
    private final Following following;
    private final ElectionTimer timer;
    private final Election election;
    private final Conflicts conflicts;
    private final ReadIndexRequests readIndexRequests;
    private final Acknowledgements acknowledgements = new Acknowledgements();
    private @Nullable LeaderRole leadership;

    RoleChanges(
            CoreOptions options,
            Rules rules,
            InputTime time,
            TermState termState,
            Outbox outbox,
            MemberLog log,
            LinkedMembers links,
            Following following,
            ElectionTimer timer,
            Election election,
            Conflicts conflicts,
            ReadIndexRequests readIndexRequests) {
        this.options = options;
        this.rules = rules;
        this.self = termState.self();
        this.time = time;
        this.termState = termState;
        this.outbox = outbox;
        this.log = log;
        this.links = links;
        this.following = following;
        this.timer = timer;
        this.election = election;
        this.conflicts = conflicts;
        this.readIndexRequests = readIndexRequests;
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
        timer.heardLeader(time.nowMs);
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
        following.begin(termState.term());
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
            timer.deposed(time.nowMs, leadership.heardMajorityMs(time.nowMs));
            rememberAcknowledgements();
            leadership = null;
            following.begin(termState.term());
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
        leadership.begin(time.nowMs, time.wallMs);
        sendReadIndexRequests();
    }

    /** A member whose log was cut has caught up, with the leader or as the leader: its vote counts again. */
    void checkCaughtUp() {
        if (termState.isProvisional()
                && (leadership == null
                        ? termState.leader() != 0 && following.hasCaughtUp(termState.term())
                        : leadership.isTermCommitted() && log.durableIndex() >= log.commitIndex())) {
            termState.markCaughtUp();
        }
    }

    /** Asks the leader for the read indexes that this member waits for. */
    void sendReadIndexRequests() {
        readIndexRequests.sendAll(time.nowMs, this::sendReadIndexRequest);
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
