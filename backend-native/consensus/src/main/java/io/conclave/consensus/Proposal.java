package io.conclave.consensus;

import io.conclave.consensus.entry.EntryKind;

/** Something to be put into the log; the same object comes back with the committed entry on the member that proposed it. */
public interface Proposal {

    /** What kind of entry this becomes: {@link EntryKind#APPLICATION} or {@link EntryKind#FEATURE_LEVEL}. */
    default EntryKind kind() {
        return EntryKind.APPLICATION;
    }

    /** The entry's bytes; asked for once, on the proposing thread, and not to be changed afterwards. */
    byte[] payload();

    /**
     * The proposal was taken from the queue and given up: it is certainly not applied and never will be. Called once at
     * most, on the log's thread; must not block. What it throws is logged.
     */
    void rejected(Rejection reason);

    /**
     * Nobody here will ever know what became of the proposal: a snapshot has taken its place in the log. Called once at
     * most, instead of {@link #rejected}, on the log's thread.
     */
    default void outcomeUnknown() {}
}
