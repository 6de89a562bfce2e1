package io.conclave.protocol;

import org.jspecify.annotations.Nullable;

/**
 * Adds an identity to the connection; goes with {@link Xid#AUTH}. Answered by an {@link EmptyReply}.
 *
 * @param type always 0 so far
 * @param scheme how the identity is proved
 * @param credentials the proof, in the form of the scheme
 */
public record AuthRequest(int type, String scheme, byte @Nullable [] credentials) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.AUTH;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeInt(type);
        out.writeString(scheme);
        out.writeBuffer(credentials);
    }

    static AuthRequest decode(JuteReader in) {
        return new AuthRequest(in.readInt("type"), in.readString("scheme"), in.readBuffer("auth"));
    }
}
