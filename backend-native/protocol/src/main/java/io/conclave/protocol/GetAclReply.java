package io.conclave.protocol;

import java.util.List;

/**
 * Answers getACL.
 *
 * @param acl the ACL of the node
 * @param stat the Stat of the node
 */
public record GetAclReply(List<AclRecord> acl, StatRecord stat) implements ReplyBody {

    @Override
    public void encode(JuteWriter out) {
        out.writeVector(acl);
        stat.encode(out);
    }

    static GetAclReply decode(JuteReader in) {
        return new GetAclReply(AclRecord.decodeList(in), StatRecord.decode(in));
    }
}
