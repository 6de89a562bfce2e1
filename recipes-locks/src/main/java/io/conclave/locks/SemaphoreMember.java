package io.conclave.locks;

import io.conclave.line.LineMember;
import io.conclave.node.NodePath;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/**
 * Somebody who has a permit of a semaphore or waits for some, as others see him.
 *
 * @param path his znode: of one permit, or of his place in the admission line
 * @param data what he left for others to see
 * @param sessionId the session that he lives with
 * @param zxid what created his znode, and tells it from another of the same name
 * @param since when he got the permit or entered the line, by the leader's clock
 */
public record SemaphoreMember(NodePath path, byte[] data, long sessionId, long zxid, Instant since) {
    static SemaphoreMember of(LineMember member) {
        return new SemaphoreMember(
                member.path(),
                member.data(),
                member.stat().ephemeralOwner(),
                member.stat().czxid(),
                Instant.ofEpochMilli(member.stat().ctimeMs()));
    }

    /** The data as text. */
    public String text() {
        return new String(data, StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return "SemaphoreMember[" + path.name() + ", \"" + text() + "\", session 0x" + Long.toHexString(sessionId)
                + ", since " + since + "]";
    }
}
