package io.conclave.protocol;

/**
 * Reads data and Stat. Answered by a {@link GetDataReply}.
 *
 * @param path the node
 * @param watch whether to set a one-shot watch
 */
public record GetDataRequest(String path, boolean watch) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.GET_DATA;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
        out.writeBool(watch);
    }

    static GetDataRequest decode(JuteReader in) {
        return new GetDataRequest(in.readString("path"), in.readBool("watch"));
    }
}
