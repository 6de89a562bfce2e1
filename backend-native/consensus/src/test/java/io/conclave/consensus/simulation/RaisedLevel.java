package io.conclave.consensus.simulation;

import io.conclave.consensus.Proposal;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.entry.LogEntryKind;
import java.nio.ByteBuffer;

/** What a leader proposes to put a feature level in force. */
record RaisedLevel(int level) implements Proposal {
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
        throw new AssertionError("level " + level + " is rejected: " + reason);
    }
}
