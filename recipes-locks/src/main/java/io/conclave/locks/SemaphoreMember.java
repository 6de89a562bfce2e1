package io.conclave.locks;

import io.conclave.line.LineMember;
import io.conclave.node.Bytes;
import io.conclave.node.HasData;
import io.conclave.node.NodePath;
import java.time.Instant;

/**
 * A holder of a permit of a semaphore or a waiter for some, as others see it.
 *
 * @param path its znode: of one permit, or of its place in the admission line
 * @param bytes what it left for others to see
 * @param sessionId the session that it belongs to
 * @param sequence the change that created its znode, which tells it from another at the same path
 * @param since when it got the permit or entered the line, by the leader's clock
 */
public record SemaphoreMember(NodePath path, Bytes bytes, long sessionId, long sequence, Instant since)
        implements HasData {
    /** With a copy of this data. */
    public SemaphoreMember(NodePath path, byte[] data, long sessionId, long sequence, Instant since) {
        this(path, Bytes.copyOf(data), sessionId, sequence, since);
    }

    static SemaphoreMember of(LineMember member) {
        return new SemaphoreMember(
                member.path(),
                member.bytes(),
                member.stat().ephemeralOwner(),
                member.stat().czxid(),
                Instant.ofEpochMilli(member.stat().ctimeMs()));
    }

    @Override
    public String toString() {
        return "SemaphoreMember[" + path.name() + ", \"" + text() + "\", session 0x" + Long.toHexString(sessionId)
                + ", since " + since + "]";
    }
}
