package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.Contradiction;
import io.conclave.consensus.entry.ClusterConfiguration;

/**
 * What this member has seen of the others that cannot be if every disk keeps what was synced: a leader without
 * something that is committed here, a follower that has committed something else, two leaders of one term. A majority
 * cannot be wrong so, an only voter can; see docs/decisions/0013.
 */
final class Conflicts {
    private final int self;
    private final TermState termState;
    private final MemberLog log;
    private final Outbox outbox;
    private Complaint complaint = Complaint.NONE;

    /** The leader whose append this member has contradicted last, and its term. */
    private int contradictedLeader;

    private long contradictedTerm;

    Conflicts(int self, TermState termState, MemberLog log, Outbox outbox) {
        this.self = self;
        this.termState = termState;
        this.log = log;
        this.outbox = outbox;
    }

    /** What was ignored since the last call. */
    Complaint takeComplaint() {
        Complaint last = complaint;
        complaint = Complaint.NONE;
        return last;
    }

    /** The member's term is beyond what elections can reach. */
    void implausible(int from, long itsTerm) {
        complaint = new Complaint(
                "member " + from + " speaks of term " + itsTerm + ", but this member is in term " + termState.term()
                        + ": no election goes so far, so it is ignored. Restart member " + from
                        + "; if it says the same again, set its log aside",
                true);
    }

    /** The member's message does not fit what it has said before, or what is here; whatever log it has. */
    void nonsense(int from, String what) {
        complaint = new Complaint("member " + from + " sends what no member can: " + what + "; it is ignored", true);
    }

    /** A leader does not have what is committed here at the index. */
    void contradict(int leader, long itsTerm, long index) {
        complain(
                false,
                "member " + leader + ", which leads in term " + itsTerm + ", has another entry at index " + index
                        + " than this member, where it is committed");
        contradictedLeader = leader;
        contradictedTerm = itsTerm;
        long there = index < log.window.baseIndex() ? log.window.termAt(log.commitIndex()) : log.window.termAt(index);
        outbox.send(leader, new Contradiction(itsTerm, index, there));
    }

    /**
     * A leader that was contradicted says that a majority has acknowledged its term: then this member is the one that
     * is wrong.
     *
     * @throws WrongDiskException if the sender is that leader, or the present one
     */
    void overruled(int from, Contradiction contradiction) {
        if ((from == contradictedLeader && contradiction.term() == contradictedTerm)
                || (from == termState.leader() && contradiction.term() == termState.term())) {
            throw new WrongDiskException(
                    "member " + from + " leads in term " + contradiction.term() + " by a majority, and this member has"
                            + " committed something else at index " + contradiction.index()
                            + ": its disk was set back to an older state, or is another cluster's",
                    true,
                    contradiction.index());
        }
    }

    /** This member leads, and another one has committed what it does not have. */
    void contradictedBy(int follower, long index) {
        complain(
                false,
                "member " + follower + " has committed another entry at index " + index
                        + " than this member has, which leads in term " + termState.term());
    }

    void twoLeaders(int one, int other) {
        complain(true, "members " + one + " and " + other + " both lead in term " + termState.term());
    }

    /** The only voter is wrong wherever others have committed something else: nothing is committed without it. */
    private void complain(boolean endsLink, String what) {
        complaint = new Complaint(what, endsLink);
        ClusterConfiguration configuration = log.configuration();
        if (configuration.isOnlyVoter(self)) {
            throw new WrongDiskException(
                    what + ". This member is the only voter by its own log, so its disk was set back to an older state",
                    false,
                    0);
        }
    }
}
