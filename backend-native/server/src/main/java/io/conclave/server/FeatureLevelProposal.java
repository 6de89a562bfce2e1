package io.conclave.server;

import io.conclave.consensus.Proposal;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.entry.EntryKind;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Switches on what members up to a level understand. */
record FeatureLevelProposal(int level) implements Proposal {
    private static final Logger LOG = LoggerFactory.getLogger(FeatureLevelProposal.class);

    @Override
    public EntryKind kind() {
        return EntryKind.FEATURE_LEVEL;
    }

    @Override
    public byte[] payload() {
        return ByteBuffer.allocate(Integer.BYTES).putInt(level).array();
    }

    @Override
    public void rejected(Rejection reason) {
        LOG.warn("The feature level {} was not switched on ({}); the next leader tries again", level, reason);
    }
}
