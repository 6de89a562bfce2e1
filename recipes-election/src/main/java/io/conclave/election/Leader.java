package io.conclave.election;

import io.conclave.grant.FencingToken;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/**
 * A leader as others see it, from its acknowledgement.
 *
 * @param data what it left as a candidate for others to see; not copied
 * @param token the fencing token of its leadership
 * @param sessionId the session that its leadership lives with
 * @param since when it began to lead, by the clock of the backend's leader
 */
public record Leader(byte[] data, FencingToken token, long sessionId, Instant since) {
    /** The data as text. */
    public String text() {
        return new String(data, StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return "Leader[\"" + text() + "\", token " + token + ", session 0x" + Long.toHexString(sessionId) + ", since "
                + since + "]";
    }
}
