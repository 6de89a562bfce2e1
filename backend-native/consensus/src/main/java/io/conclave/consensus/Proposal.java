package io.conclave.consensus;

import io.conclave.consensus.entry.LogEntryKind;

/**
 * Something to be put into the log; the same object comes back with the committed entry on the member that proposed it.
 */
public interface Proposal {

    /**
     * What kind of entry this becomes: {@link LogEntryKind#APPLICATION} or {@link LogEntryKind#FEATURE_LEVEL}. A
     * feature level is for the leader to propose, and has an effect only in the term in which it does: in a later one
     * it comes back as any other proposal, and raises nothing.
     */
    default LogEntryKind kind() {
        return LogEntryKind.APPLICATION;
    }

    /** The entry's bytes; asked for once, on the proposing thread, and not to be changed afterwards. */
    byte[] payload();

    /**
     * The proposal was taken from the queue and given up: it is certainly not applied and never will be. Called once at
     * most, on the log's thread; must not block. What it throws is logged.
     */
    void rejected(Rejection reason);

    /**
     * The outcome of the proposal stays unknown here: a snapshot has taken its place in the log. Called once at
     * most, instead of {@link #rejected}, on the log's thread.
     */
    default void outcomeUnknown() {}
}
