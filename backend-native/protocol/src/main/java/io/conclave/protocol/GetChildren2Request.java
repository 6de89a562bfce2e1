package io.conclave.protocol;

/**
 * Reads the names of the children and the Stat. Answered by a {@link GetChildren2Reply}.
 *
 * @param path the node
 * @param watch whether to set a one-shot watch
 */
public record GetChildren2Request(String path, boolean watch) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.GET_CHILDREN2;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
        out.writeBool(watch);
    }

    static GetChildren2Request decode(JuteReader in) {
        return new GetChildren2Request(in.readString("path"), in.readBool("watch"));
    }
}
