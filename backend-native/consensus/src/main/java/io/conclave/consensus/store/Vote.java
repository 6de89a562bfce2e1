package io.conclave.consensus.store;

/**
 * What the vote file says.
 *
 * @param term the term the member is in
 * @param votedFor whom it voted for in it; 0 for nobody
 * @param torn the end of the log was torn once, and the member has not caught up since
 * @param durable up to where the log was durable, at least
 * @param commitIndex up to where it was committed, at least
 * @param base where the log begins
 */
record Vote(long term, int votedFor, boolean torn, LogPosition durable, long commitIndex, LogBase base) {
    static final Vote NONE = new Vote(0, 0, false, LogPosition.START, 0, LogBase.BIRTH);

    Vote in(long newTerm, int newVotedFor) {
        return new Vote(newTerm, newVotedFor, torn, durable, commitIndex, base);
    }

    Vote torn(boolean now) {
        return new Vote(term, votedFor, now, durable, commitIndex, base);
    }

    Vote with(LogPosition newDurable, long newCommitIndex) {
        return new Vote(term, votedFor, torn, newDurable, newCommitIndex, base);
    }

    Vote startingAt(LogBase newBase) {
        return new Vote(term, votedFor, torn, newBase.start(), newBase.index(), newBase);
    }
}
