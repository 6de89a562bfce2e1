package io.conclave.protocol;

/**
 * Reads the names of the children. Answered by a {@link GetChildrenReply}.
 *
 * @param path the node
 * @param watch whether to set a one-shot watch
 */
public record GetChildrenRequest(String path, boolean watch) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.GET_CHILDREN;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
        out.writeBool(watch);
    }

    static GetChildrenRequest decode(JuteReader in) {
        return new GetChildrenRequest(in.readString("path"), in.readBool("watch"));
    }
}
