package io.conclave.protocol;

/**
 * Removes watches. Answered by an {@link EmptyReply} or {@link ErrorCode#NO_WATCHER}.
 *
 * @param path the node
 * @param type a {@link WatcherType}, known or not
 */
public record RemoveWatchesRequest(String path, int type) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.REMOVE_WATCHES;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
        out.writeInt(type);
    }

    static RemoveWatchesRequest decode(JuteReader in) {
        return new RemoveWatchesRequest(in.readString("path"), in.readInt("type"));
    }
}
