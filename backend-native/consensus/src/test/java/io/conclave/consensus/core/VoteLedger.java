package io.conclave.consensus.core;

import static io.conclave.consensus.core.Invariants.check;

import io.conclave.consensus.core.PeerMessage.VoteReply;
import io.conclave.consensus.core.PeerMessage.VoteRequest;
import java.util.HashMap;
import java.util.Map;

/**
 * The candidate to which each directory has given its vote of a term (thesis §3.4), as far as any member was told,
 * whatever crashes followed.
 */
final class VoteLedger {
    private record Ballot(long directory, long term) {}

    private final Map<Ballot, Integer> votes = new HashMap<>();

    /** A message leaves a member; a candidate has given its own vote to itself. */
    void sent(SimulatedMember from, int to, PeerMessage message) {
        if (message instanceof VoteReply reply && reply.granted() && !reply.pre()) {
            voted(from, reply.term(), to);
        } else if (message instanceof VoteRequest request && !request.pre()) {
            voted(from, request.term(), from.id);
        }
    }

    private void voted(SimulatedMember voter, long term, int candidate) {
        Integer before = votes.putIfAbsent(new Ballot(voter.disk.directory, term), candidate);
        check(
                before == null || before == candidate,
                () -> "member " + voter.id + " votes for " + candidate + " in term " + term + ", and voted for "
                        + before);
    }
}
