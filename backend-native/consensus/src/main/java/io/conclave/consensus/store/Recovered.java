package io.conclave.consensus.store;

import io.conclave.consensus.entry.LogBatch;
import java.util.List;

/**
 * What a member knew when it stopped.
 *
 * @param votedFor 0 for nobody
 * @param lastCommitted the index of the last batch given to the target (or its snapshot's); 0 if there was none
 * @param lastCommittedTerm the term of that
 * @param rest batches behind it
 * @param cut the end of the log was torn, or may have been
 */
public record Recovered(
        long term, int votedFor, long lastCommitted, long lastCommittedTerm, List<LogBatch> rest, boolean cut) {}
