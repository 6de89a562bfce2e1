package io.conclave.consensus.store;

import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.Start;
import java.util.List;

/**
 * What a member knew when it stopped.
 *
 * @param votedFor 0 for none
 * @param lastCommitted the index of the last batch given to the target (or its snapshot's); 0 if there was none
 * @param lastCommittedTerm the term of that
 * @param rest batches behind it
 * @param cut the end of the log was torn, or may have been
 * @param doubtTerm if it was cut: the term that the member was in when that was found
 * @param start this start of the member
 */
public record Recovered(
        long term,
        int votedFor,
        long lastCommitted,
        long lastCommittedTerm,
        List<LogBatch> rest,
        boolean cut,
        long doubtTerm,
        Start start) {}
