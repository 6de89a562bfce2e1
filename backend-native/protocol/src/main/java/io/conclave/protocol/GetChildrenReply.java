package io.conclave.protocol;

import java.util.List;

/**
 * Answers getChildren.
 *
 * @param children the names of the children, in no order
 */
public record GetChildrenReply(List<String> children) implements ReplyBody {

    @Override
    public void encode(JuteWriter out) {
        out.writeStrings(children);
    }

    static GetChildrenReply decode(JuteReader in) {
        return new GetChildrenReply(in.readStrings("children"));
    }
}
