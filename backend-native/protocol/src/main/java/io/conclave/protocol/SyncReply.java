package io.conclave.protocol;

/**
 * Answers sync.
 *
 * @param path the path of the request
 */
public record SyncReply(String path) implements ReplyBody {

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
    }

    static SyncReply decode(JuteReader in) {
        return new SyncReply(in.readString("path"));
    }
}
