package io.conclave.consensus;

import java.io.IOException;
import java.util.UUID;

/** Where a one-member log keeps its batches. All methods are called on the log's thread. */
interface LogStore {

    /** What became of a batch. */
    enum Appended {
        /** It is durable (as far as this store goes). */
        DONE,
        /** Nothing was written; try again after the next piece of work of the store has run on the log's thread. */
        WAIT,
        /** Nothing was written and there is no room. */
        FULL
    }

    /** Where the log ends. */
    record Tail(long lastIndex, long timestampMs) {}

    /** Restores the machine and says where the log ends. */
    Tail recover(StateMachine machine) throws IOException;

    UUID clusterId();

    /** A new term, durable on return. */
    long enterNextTerm() throws IOException;

    Appended append(CommittedBatch batch) throws IOException;

    /** The batch was applied: a good moment for a snapshot. */
    void applied(CommittedBatch batch, StateMachine machine);

    DiskState diskState();

    /** Ends work in the background; returns whether all of it has ended, else ask again after its next sign. */
    boolean stopped();

    /** Gives everything free; {@code clean} if all is well and a mark of the end shall be left. */
    void close(boolean clean) throws IOException;
}
