package io.conclave.protocol;

/**
 * Reads the Stat of a node. Answered by a {@link StatReply}.
 *
 * @param path the node
 * @param watch whether to set a one-shot watch, also if the node does not exist
 */
public record ExistsRequest(String path, boolean watch) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.EXISTS;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
        out.writeBool(watch);
    }

    static ExistsRequest decode(JuteReader in) {
        return new ExistsRequest(in.readString("path"), in.readBool("watch"));
    }
}
