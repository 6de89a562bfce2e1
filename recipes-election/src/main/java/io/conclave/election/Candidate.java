package io.conclave.election;

import io.conclave.line.LineMember;
import io.conclave.node.Bytes;
import io.conclave.node.HasData;
import io.conclave.node.NodePath;
import java.time.Instant;

/**
 * A member of an election's line, as others see it: the leader, or a waiting candidate.
 *
 * <p>It names one place in the line: a candidate that steps back has another one afterwards.
 *
 * @param path its znode
 * @param bytes what it left for others to see
 * @param sessionId the session that it belongs to
 * @param sequence that of the fencing token that it has, or would have as the leader
 * @param since when it entered the line, by the clock of the backend's leader
 */
public record Candidate(NodePath path, Bytes bytes, long sessionId, long sequence, Instant since) implements HasData {
    /** With a copy of this data. */
    public Candidate(NodePath path, byte[] data, long sessionId, long sequence, Instant since) {
        this(path, Bytes.copyOf(data), sessionId, sequence, since);
    }

    static Candidate of(LineMember member) {
        return new Candidate(
                member.path(),
                member.bytes(),
                member.stat().ephemeralOwner(),
                member.stat().czxid(),
                Instant.ofEpochMilli(member.stat().ctimeMs()));
    }

    /** Whether that place in the line is this candidate's. */
    boolean isAt(LineMember member) {
        return member.path().equals(path) && member.stat().czxid() == sequence;
    }

    @Override
    public String toString() {
        return "Candidate[" + path.name() + ", \"" + text() + "\", session 0x" + Long.toHexString(sessionId)
                + ", since " + since + "]";
    }
}
