package io.conclave.protocol;

/**
 * Answers {@link OpCode#CREATE}.
 *
 * @param path the path of the new node, with the number that was appended
 */
public record CreateReply(String path) implements ReplyBody {

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
    }

    static CreateReply decode(JuteReader in) {
        return new CreateReply(in.readString("path"));
    }
}
