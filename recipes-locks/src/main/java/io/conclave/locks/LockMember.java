package io.conclave.locks;

import io.conclave.node.Bytes;
import io.conclave.node.HasData;
import io.conclave.node.NodePath;
import java.time.Instant;

/**
 * A holder of a lock or a waiter for it, as others see it.
 *
 * @param path its znode
 * @param bytes what it left for others to see
 * @param mode how it holds the lock or waits for it
 * @param sessionId the session that it belongs to
 * @param sequence that of its fencing token, which tells it from another at the same path
 * @param since when it entered the line, by the leader's clock
 */
public record LockMember(NodePath path, Bytes bytes, LockMode mode, long sessionId, long sequence, Instant since)
        implements HasData {
    /** With a copy of this data. */
    public LockMember(NodePath path, byte[] data, LockMode mode, long sessionId, long sequence, Instant since) {
        this(path, Bytes.copyOf(data), mode, sessionId, sequence, since);
    }

    @Override
    public String toString() {
        return "LockMember[" + path.name() + ", \"" + text() + "\", " + mode + ", session 0x"
                + Long.toHexString(sessionId) + ", since " + since + "]";
    }
}
