package io.conclave.protocol;

/**
 * Adds a persistent watch. Answered by an {@link ErrorReply} with 0.
 *
 * @param path the node
 * @param mode a {@link WatchMode}, known or not
 */
public record AddWatchRequest(String path, int mode) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.ADD_WATCH;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
        out.writeInt(mode);
    }

    static AddWatchRequest decode(JuteReader in) {
        return new AddWatchRequest(in.readString("path"), in.readInt("mode"));
    }
}
