package io.conclave.server;

import io.conclave.consensus.Proposal;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.entry.LogEntryKind;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Switches on what members up to a level understand.
 *
 * @param notTaken called, on the log's thread, if the log did not take it
 */
record FeatureLevelProposal(int level, Runnable notTaken) implements Proposal {
    private static final Logger LOG = LoggerFactory.getLogger(FeatureLevelProposal.class);

    @Override
    public LogEntryKind kind() {
        return LogEntryKind.FEATURE_LEVEL;
    }

    @Override
    public byte[] payload() {
        return ByteBuffer.allocate(Integer.BYTES).putInt(level).array();
    }

    @Override
    public void rejected(Rejection reason) {
        LOG.warn("The feature level {} was not switched on ({}); it is tried again", level, reason);
        notTaken.run();
    }
}
