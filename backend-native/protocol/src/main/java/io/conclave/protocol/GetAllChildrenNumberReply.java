package io.conclave.protocol;

/**
 * Answers getAllChildrenNumber.
 *
 * @param totalNumber the number of all descendants
 */
public record GetAllChildrenNumberReply(int totalNumber) implements ReplyBody {

    @Override
    public void encode(JuteWriter out) {
        out.writeInt(totalNumber);
    }

    static GetAllChildrenNumberReply decode(JuteReader in) {
        return new GetAllChildrenNumberReply(in.readInt("totalNumber"));
    }
}
