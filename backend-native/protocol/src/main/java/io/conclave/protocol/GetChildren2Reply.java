package io.conclave.protocol;

import java.util.List;

/**
 * Answers getChildren2.
 *
 * @param children the names of the children, in no order
 * @param stat the Stat of the node
 */
public record GetChildren2Reply(List<String> children, StatRecord stat) implements ReplyBody {

    @Override
    public void encode(JuteWriter out) {
        out.writeStrings(children);
        stat.encode(out);
    }

    static GetChildren2Reply decode(JuteReader in) {
        return new GetChildren2Reply(in.readStrings("children"), StatRecord.decode(in));
    }
}
