package io.conclave.protocol;

/**
 * Brings the server up to date. Answered by a {@link SyncReply}.
 *
 * @param path a path, which is only repeated in the answer
 */
public record SyncRequest(String path) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.SYNC;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
    }

    static SyncRequest decode(JuteReader in) {
        return new SyncRequest(in.readString("path"));
    }
}
