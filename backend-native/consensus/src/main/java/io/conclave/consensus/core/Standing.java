package io.conclave.consensus.core;

/** What a member is: its role in its term, for whom it voted and how much its vote counts, and whom it follows. */
final class Standing {
    private final int self;
    private CoreRole role = CoreRole.FOLLOWER;
    private long term;
    private int votedFor;
    private int leader;
    private boolean weak;
    private final long doubtTerm;

    /** A member that has recovered. */
    Standing(CoreStart start) {
        self = start.member();
        term = start.term();
        votedFor = start.votedFor();
        weak = start.cut();
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

    /** Whom it voted for in its term; 0 for nobody. */
    int votedFor() {
        return votedFor;
    }

    /** Who leads in its term; 0 if it does not know. */
    int leader() {
        return leader;
    }

    /** Whether it may have lost the end of its log, so that its vote is not a full one. */
    boolean isWeak() {
        return weak;
    }

    /** If it is weak: the term that it was in when it lost the end of its log. */
    long doubtTerm() {
        return weak ? doubtTerm : 0;
    }

    /** What has to be durable before anybody is told. */
    Output.Vote vote() {
        return new Output.Vote(term, votedFor);
    }

    void become(CoreRole next) {
        if (!next.mayFollow(role)) {
            throw new IllegalStateException(role + " cannot become " + next);
        }
        role = next;
    }

    /** Somebody has begun a higher term. */
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

    /** @param newLeader 0 if nobody leads any more, as far as this member knows */
    void follow(int newLeader) {
        leader = newLeader;
    }

    /** It has everything again that it may have lost. */
    void strengthen() {
        weak = false;
    }

    @Override
    public String toString() {
        return role + " of term " + term;
    }
}
