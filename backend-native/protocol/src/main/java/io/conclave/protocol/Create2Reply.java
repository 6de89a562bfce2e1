package io.conclave.protocol;

/**
 * Answers all other operations that create a node.
 *
 * @param path the path of the new node, with the number that was appended
 * @param stat the Stat of the new node
 */
public record Create2Reply(String path, StatRecord stat) implements ReplyBody {

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
        stat.encode(out);
    }

    static Create2Reply decode(JuteReader in) {
        return new Create2Reply(in.readString("path"), StatRecord.decode(in));
    }
}
