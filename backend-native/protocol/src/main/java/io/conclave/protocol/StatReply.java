package io.conclave.protocol;

/**
 * Answers exists, setData and setACL.
 *
 * @param stat the Stat of the node
 */
public record StatReply(StatRecord stat) implements ReplyBody {

    @Override
    public void encode(JuteWriter out) {
        stat.encode(out);
    }

    static StatReply decode(JuteReader in) {
        return new StatReply(StatRecord.decode(in));
    }
}
