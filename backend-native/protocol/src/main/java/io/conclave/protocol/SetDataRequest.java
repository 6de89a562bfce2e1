package io.conclave.protocol;

import org.jspecify.annotations.Nullable;

/**
 * Sets data. Answered by a {@link StatReply}.
 *
 * @param path the node
 * @param data the new data
 * @param version the version expected, or -1 for any
 */
public record SetDataRequest(String path, byte @Nullable [] data, int version) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.SET_DATA;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
        out.writeBuffer(data);
        out.writeInt(version);
    }

    static SetDataRequest decode(JuteReader in) {
        return new SetDataRequest(in.readString("path"), in.readBuffer("data"), in.readInt("version"));
    }
}
