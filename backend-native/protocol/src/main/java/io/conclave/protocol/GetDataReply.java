package io.conclave.protocol;

import org.jspecify.annotations.Nullable;

/**
 * Answers getData and reconfig.
 *
 * @param data the data of the node
 * @param stat the Stat of the node
 */
public record GetDataReply(byte @Nullable [] data, StatRecord stat) implements ReplyBody {

    @Override
    public void encode(JuteWriter out) {
        out.writeBuffer(data);
        stat.encode(out);
    }

    static GetDataReply decode(JuteReader in) {
        return new GetDataReply(in.readBuffer("data"), StatRecord.decode(in));
    }
}
