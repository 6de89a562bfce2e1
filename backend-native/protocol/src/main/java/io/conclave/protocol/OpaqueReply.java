package io.conclave.protocol;

/**
 * The answer to an operation that is internal to servers.
 *
 * @param bytes what follows the header
 */
public record OpaqueReply(byte[] bytes) implements ReplyBody {

    @Override
    public void encode(JuteWriter out) {
        out.writeRaw(bytes);
    }
}
