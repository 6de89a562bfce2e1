package io.conclave.protocol;

import org.jspecify.annotations.Nullable;

/**
 * A step of a SASL authentication. Answered by a {@link SaslReply}.
 *
 * @param token the client's token
 */
public record SaslRequest(byte @Nullable [] token) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.SASL;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeBuffer(token);
    }

    static SaslRequest decode(JuteReader in) {
        return new SaslRequest(in.readBuffer("token"));
    }
}
