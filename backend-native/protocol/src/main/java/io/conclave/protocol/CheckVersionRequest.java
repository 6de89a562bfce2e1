package io.conclave.protocol;

/**
 * Lets a multi fail unless a node has a version. Has no place outside a {@link MultiRequest}.
 *
 * @param path the node
 * @param version the version expected, or -1 for any
 */
public record CheckVersionRequest(String path, int version) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.CHECK;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
        out.writeInt(version);
    }

    static CheckVersionRequest decode(JuteReader in) {
        return new CheckVersionRequest(in.readString("path"), in.readInt("version"));
    }
}
