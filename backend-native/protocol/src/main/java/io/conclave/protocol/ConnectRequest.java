package io.conclave.protocol;

import org.jspecify.annotations.Nullable;

/**
 * The first frame of a client.
 *
 * @param protocolVersion always 0 so far
 * @param lastZxidSeen the newest change that the client knows of; a server behind it must not serve the client
 * @param timeoutMs the session timeout wished for
 * @param sessionId the session to resume, or 0 for a new one
 * @param password the session's password
 * @param readOnly whether a server without a quorum will do
 * @param readOnlyPresent whether the frame has the read-only byte, which very old clients omit; without it, readOnly is
 *     false
 */
public record ConnectRequest(
        int protocolVersion,
        long lastZxidSeen,
        int timeoutMs,
        long sessionId,
        byte @Nullable [] password,
        boolean readOnly,
        boolean readOnlyPresent)
        implements WireRecord {

    /** Checks that an absent byte is not true. */
    public ConnectRequest {
        if (readOnly && !readOnlyPresent) {
            throw new IllegalArgumentException("readOnly cannot be true while its byte is absent");
        }
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeInt(protocolVersion);
        out.writeLong(lastZxidSeen);
        out.writeInt(timeoutMs);
        out.writeLong(sessionId);
        out.writeBuffer(password);
        if (readOnlyPresent) {
            out.writeBool(readOnly);
        }
    }

    /** Reads the first frame of a client. */
    public static ConnectRequest decode(JuteReader in) {
        int protocolVersion = in.readInt("protocolVersion");
        long lastZxidSeen = in.readLong("lastZxidSeen");
        int timeoutMs = in.readInt("timeOut");
        long sessionId = in.readLong("sessionId");
        byte[] password = in.readBuffer("passwd");
        boolean present = in.remaining() > 0;
        boolean readOnly = present && in.readBool("readOnly");
        return new ConnectRequest(protocolVersion, lastZxidSeen, timeoutMs, sessionId, password, readOnly, present);
    }
}
