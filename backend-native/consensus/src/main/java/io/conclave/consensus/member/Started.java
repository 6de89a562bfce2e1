package io.conclave.consensus.member;

import io.conclave.consensus.entry.EntryKind;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.Origin;
import java.nio.ByteBuffer;
import java.util.Optional;

/** What the entry says with which a member begins a new incarnation. */
record Started(int member, long nonce) {
    private static final int BYTES = Integer.BYTES + Long.BYTES;

    LogEntry entry() {
        byte[] payload =
                ByteBuffer.allocate(BYTES).putInt(member).putLong(nonce).array();
        return new LogEntry(EntryKind.STARTED, Origin.NONE, payload);
    }

    /** Empty if the entry is none, or malformed. */
    static Optional<Started> of(LogEntry entry) {
        if (entry.kind() != EntryKind.STARTED || entry.payload().length != BYTES) {
            return Optional.empty();
        }
        ByteBuffer payload = ByteBuffer.wrap(entry.payload());
        return Optional.of(new Started(payload.getInt(), payload.getLong()));
    }
}
