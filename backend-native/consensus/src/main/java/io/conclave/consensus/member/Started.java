package io.conclave.consensus.member;

import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.Origin;
import io.conclave.consensus.entry.Start;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * What the entry says with which a member begins a new incarnation: of those one start of it may have several, and so
 * several nonces, but only one start.
 */
record Started(int member, long nonce, Start start) {
    private static final int BYTES = Integer.BYTES + 4 * Long.BYTES;

    LogEntry entry() {
        ByteBuffer payload = ByteBuffer.allocate(BYTES).putInt(member).putLong(nonce);
        payload.putLong(start.directory()).putLong(start.number()).putLong(start.id());
        return new LogEntry(LogEntryKind.STARTED, Origin.NONE, payload.array());
    }

    /** Empty if the entry is none, or malformed. */
    static Optional<Started> of(LogEntry entry) {
        if (entry.kind() != LogEntryKind.STARTED || entry.payload().length != BYTES) {
            return Optional.empty();
        }
        ByteBuffer payload = ByteBuffer.wrap(entry.payload());
        return Optional.of(new Started(
                payload.getInt(),
                payload.getLong(),
                new Start(payload.getLong(), payload.getLong(), payload.getLong())));
    }
}
