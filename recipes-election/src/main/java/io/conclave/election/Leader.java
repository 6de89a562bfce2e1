package io.conclave.election;

import io.conclave.grant.FencingToken;
import io.conclave.node.Bytes;
import io.conclave.node.HasData;
import java.time.Instant;

/**
 * A leader as others see it, from its acknowledgement.
 *
 * @param bytes what it left as a candidate for others to see, or its latest {@link Leadership#update}
 * @param token the fencing token of its leadership
 * @param sessionId the session that its leadership belongs to
 * @param since when it began to lead, by the clock of the backend's leader
 */
public record Leader(Bytes bytes, FencingToken token, long sessionId, Instant since) implements HasData {
    /** With a copy of this data. */
    public Leader(byte[] data, FencingToken token, long sessionId, Instant since) {
        this(Bytes.copyOf(data), token, sessionId, since);
    }

    @Override
    public String toString() {
        return "Leader[\"" + text() + "\", token " + token + ", session 0x" + Long.toHexString(sessionId) + ", since "
                + since + "]";
    }
}
