package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.VoteReply;

/** A member's state in its term: its role, its vote and how much that counts, and the leader it follows. */
final class TermState {
    private final int self;
    private CoreRole role = CoreRole.FOLLOWER;
    private long term;
    private int votedFor;
    private int leader;
    private boolean provisional;
    private final long doubtTerm;

    /** A member that has recovered. */
    TermState(CoreStart start) {
        self = start.member();
        term = start.term();
        votedFor = start.votedFor();
        provisional = start.cut();
        doubtTerm = start.doubtTerm();
    }

    int self() {
        return self;
    }

    CoreRole role() {
        return role;
    }

    long term() {
        return term;
    }

    /** The candidate that it voted for in its term; 0 for none. */
    int votedFor() {
        return votedFor;
    }

    /** The leader of its term; 0 if it does not know. */
    int leader() {
        return leader;
    }

    /** Whether it may have lost the end of its log, so that its vote is provisional. */
    boolean isProvisional() {
        return provisional;
    }

    /** If its vote is provisional: the term that it was in when it lost the end of its log. */
    long doubtTerm() {
        return provisional ? doubtTerm : 0;
    }

    /** An answer to a request for a vote, of the given term. */
    VoteReply voteReply(boolean pre, long answeredTerm, boolean granted) {
        return new VoteReply(pre, answeredTerm, granted, provisional, doubtTerm());
    }

    /** What has to be durable before anything is sent. */
    CoreOutput.Vote vote() {
        return new CoreOutput.Vote(term, votedFor);
    }

    void become(CoreRole next) {
        if (!next.mayFollow(role)) {
            throw new IllegalStateException(role + " cannot become " + next);
        }
        role = next;
    }

    /** Another member has begun a higher term. */
    void enter(long higherTerm) {
        term = higherTerm;
        votedFor = 0;
    }

    /** Begins a term, with its own vote. */
    void beginTerm() {
        term++;
        votedFor = self;
        leader = 0;
    }

    void voteFor(int candidate) {
        votedFor = candidate;
    }

    /** @param newLeader 0 if there is no leader any more, as far as this member knows */
    void follow(int newLeader) {
        leader = newLeader;
    }

    /** It has everything again that it may have lost. */
    void markCaughtUp() {
        provisional = false;
    }

    @Override
    public String toString() {
        return role + " of term " + term;
    }
}
