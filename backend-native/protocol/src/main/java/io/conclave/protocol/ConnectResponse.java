package io.conclave.protocol;

import org.jspecify.annotations.Nullable;

/**
 * The first frame of a server.
 *
 * @param protocolVersion always 0 so far
 * @param timeoutMs the session timeout granted; 0 or less says that the session to resume is gone
 * @param sessionId the session
 * @param password the session's password
 * @param readOnly whether the server is without a quorum
 * @param readOnlyPresent whether the frame has the read-only byte: a server omits it if the client did; without it,
 *     readOnly is false
 */
public record ConnectResponse(
        int protocolVersion,
        int timeoutMs,
        long sessionId,
        byte @Nullable [] password,
        boolean readOnly,
        boolean readOnlyPresent)
        implements WireRecord {
    private static final int PASSWORD_BYTES = 16;

    /** Checks that an absent byte is not true. */
    public ConnectResponse {
        if (readOnly && !readOnlyPresent) {
            throw new IllegalArgumentException("readOnly cannot be true while its byte is absent");
        }
    }

    /**
     * The answer to a session that is gone or a password that is wrong.
     *
     * @param request what is answered
     */
    public static ConnectResponse sessionGone(ConnectRequest request) {
        return new ConnectResponse(0, 0, 0, new byte[PASSWORD_BYTES], false, request.readOnlyPresent());
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeInt(protocolVersion);
        out.writeInt(timeoutMs);
        out.writeLong(sessionId);
        out.writeBuffer(password);
        if (readOnlyPresent) {
            out.writeBool(readOnly);
        }
    }

    /** Reads the first frame of a server. */
    public static ConnectResponse decode(JuteReader in) {
        int protocolVersion = in.readInt("protocolVersion");
        int timeoutMs = in.readInt("timeOut");
        long sessionId = in.readLong("sessionId");
        byte[] password = in.readBuffer("passwd");
        boolean present = in.remaining() > 0;
        boolean readOnly = present && in.readBool("readOnly");
        return new ConnectResponse(protocolVersion, timeoutMs, sessionId, password, readOnly, present);
    }
}
