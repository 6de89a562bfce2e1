package io.conclave.protocol;

/**
 * Deletes a node. Answered by an {@link EmptyReply}.
 *
 * @param path the node
 * @param version the version expected, or -1 for any
 */
public record DeleteRequest(String path, int version) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.DELETE;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
        out.writeInt(version);
    }

    static DeleteRequest decode(JuteReader in) {
        return new DeleteRequest(in.readString("path"), in.readInt("version"));
    }
}
