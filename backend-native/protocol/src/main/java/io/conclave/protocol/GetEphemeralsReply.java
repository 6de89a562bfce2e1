package io.conclave.protocol;

import java.util.List;

/**
 * Answers getEphemerals.
 *
 * @param ephemerals the paths
 */
public record GetEphemeralsReply(List<String> ephemerals) implements ReplyBody {

    @Override
    public void encode(JuteWriter out) {
        out.writeStrings(ephemerals);
    }

    static GetEphemeralsReply decode(JuteReader in) {
        return new GetEphemeralsReply(in.readStrings("ephemerals"));
    }
}
