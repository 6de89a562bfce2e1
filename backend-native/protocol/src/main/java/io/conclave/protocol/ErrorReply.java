package io.conclave.protocol;

/**
 * A failed result in a multi, and the answer to addWatch.
 *
 * @param err an {@link ErrorCode}, known or not; 0 for none
 */
public record ErrorReply(int err) implements ReplyBody {

    @Override
    public void encode(JuteWriter out) {
        out.writeInt(err);
    }

    static ErrorReply decode(JuteReader in) {
        return new ErrorReply(in.readInt("err"));
    }
}
