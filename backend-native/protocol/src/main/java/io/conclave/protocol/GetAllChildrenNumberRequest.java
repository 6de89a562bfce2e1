package io.conclave.protocol;

/**
 * Counts all descendants. Answered by a {@link GetAllChildrenNumberReply}.
 *
 * @param path the node
 */
public record GetAllChildrenNumberRequest(String path) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.GET_ALL_CHILDREN_NUMBER;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
    }

    static GetAllChildrenNumberRequest decode(JuteReader in) {
        return new GetAllChildrenNumberRequest(in.readString("path"));
    }
}
