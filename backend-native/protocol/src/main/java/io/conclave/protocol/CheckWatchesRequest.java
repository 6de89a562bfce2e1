package io.conclave.protocol;

/**
 * Asks whether a watch is set. Answered by an {@link EmptyReply} or {@link ErrorCode#NO_WATCHER}.
 *
 * @param path the node
 * @param type a {@link WatcherType}, known or not
 */
public record CheckWatchesRequest(String path, int type) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.CHECK_WATCHES;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
        out.writeInt(type);
    }

    static CheckWatchesRequest decode(JuteReader in) {
        return new CheckWatchesRequest(in.readString("path"), in.readInt("type"));
    }
}
