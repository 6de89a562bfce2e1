package io.conclave.protocol;

/**
 * Reads the ACL. Answered by a {@link GetAclReply}.
 *
 * @param path the node
 */
public record GetAclRequest(String path) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.GET_ACL;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
    }

    static GetAclRequest decode(JuteReader in) {
        return new GetAclRequest(in.readString("path"));
    }
}
