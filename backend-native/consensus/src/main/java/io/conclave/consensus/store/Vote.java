package io.conclave.consensus.store;

/**
 * What the vote file says.
 *
 * @param term the term the member is in
 * @param votedFor whom it voted for in it; 0 for nobody
 * @param torn the end of the log was torn once, and the member has not caught up since
 * @param doubtTerm if it is torn: the term that the member was in when that was found
 * @param durable up to where the log was durable, at least
 * @param commitIndex up to where it was committed, at least
 * @param base where the log begins
 * @param starts how often a member has started in this directory
 * @param startId the random id of the last start
 */
record Vote(
        long term,
        int votedFor,
        boolean torn,
        long doubtTerm,
        LogPosition durable,
        long commitIndex,
        LogBase base,
        long starts,
        long startId) {
    static final Vote NONE = new Vote(0, 0, false, 0, LogPosition.START, 0, LogBase.BIRTH, 0, 0);

    Vote in(long newTerm, int newVotedFor) {
        return new Vote(newTerm, newVotedFor, torn, doubtTerm, durable, commitIndex, base, starts, startId);
    }

    /** In the present term. */
    Vote tornNow() {
        return new Vote(term, votedFor, true, term, durable, commitIndex, base, starts, startId);
    }

    Vote whole() {
        return new Vote(term, votedFor, false, 0, durable, commitIndex, base, starts, startId);
    }

    Vote with(LogPosition newDurable, long newCommitIndex) {
        return new Vote(term, votedFor, torn, doubtTerm, newDurable, newCommitIndex, base, starts, startId);
    }

    Vote startingAt(LogBase newBase) {
        return new Vote(term, votedFor, torn, doubtTerm, newBase.start(), newBase.index(), newBase, starts, startId);
    }

    /** Another start. */
    Vote startedAs(long id) {
        return new Vote(term, votedFor, torn, doubtTerm, durable, commitIndex, base, starts + 1, id);
    }
}
