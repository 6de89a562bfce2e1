package io.conclave.protocol;

import org.jspecify.annotations.Nullable;

/**
 * Answers a step of a SASL authentication.
 *
 * @param token the server's token
 */
public record SaslReply(byte @Nullable [] token) implements ReplyBody {

    @Override
    public void encode(JuteWriter out) {
        out.writeBuffer(token);
    }

    static SaslReply decode(JuteReader in) {
        return new SaslReply(in.readBuffer("token"));
    }
}
