package io.conclave.protocol;

import java.util.List;

/**
 * Sets the ACL. Answered by a {@link StatReply}.
 *
 * @param path the node
 * @param acl the new ACL
 * @param version the ACL version expected, or -1 for any
 */
public record SetAclRequest(String path, List<AclRecord> acl, int version) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.SET_ACL;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
        out.writeVector(acl);
        out.writeInt(version);
    }

    static SetAclRequest decode(JuteReader in) {
        return new SetAclRequest(in.readString("path"), AclRecord.decodeList(in), in.readInt("version"));
    }
}
