package io.conclave.consensus.store;

/**
 * What the vote file says.
 *
 * @param term the term the member is in
 * @param votedFor the candidate that it voted for in it; 0 for none
 * @param torn the end of the log was torn once, and the member has not caught up since
 * @param doubtTerm if it is torn: the term that the member was in when that was found
 * @param durable up to where the log was durable, at least
 * @param commitIndex up to where it was committed, at least
 * @param base where the log begins
 * @param starts how often a member has started in this directory
 * @param startId the random id of the last start
 */
record StoredVote(
        long term,
        int votedFor,
        boolean torn,
        long doubtTerm,
        LogPosition durable,
        long commitIndex,
        LogBase base,
        long starts,
        long startId) {
    static final StoredVote NONE = new StoredVote(0, 0, false, 0, LogPosition.START, 0, LogBase.BOOTSTRAP, 0, 0);

    StoredVote in(long newTerm, int newVotedFor) {
        return new StoredVote(newTerm, newVotedFor, torn, doubtTerm, durable, commitIndex, base, starts, startId);
    }

    /** In the present term. */
    StoredVote tornNow() {
        return new StoredVote(term, votedFor, true, term, durable, commitIndex, base, starts, startId);
    }

    StoredVote whole() {
        return new StoredVote(term, votedFor, false, 0, durable, commitIndex, base, starts, startId);
    }

    StoredVote with(LogPosition newDurable, long newCommitIndex) {
        return new StoredVote(term, votedFor, torn, doubtTerm, newDurable, newCommitIndex, base, starts, startId);
    }

    StoredVote startingAt(LogBase newBase) {
        return new StoredVote(
                term, votedFor, torn, doubtTerm, newBase.start(), newBase.index(), newBase, starts, startId);
    }

    /** Another start. */
    StoredVote startedAs(long id) {
        return new StoredVote(term, votedFor, torn, doubtTerm, durable, commitIndex, base, starts + 1, id);
    }
}
