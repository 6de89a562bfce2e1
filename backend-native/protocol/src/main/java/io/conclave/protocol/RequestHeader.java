package io.conclave.protocol;

import java.util.Optional;

/**
 * The start of every request but the first.
 *
 * @param xid the request's number, or one of {@link Xid}; the reply repeats it
 * @param type the operation, known or not
 */
public record RequestHeader(int xid, int type) implements WireRecord {

    /** The operation; empty if it is not known. */
    public Optional<OpCode> opCode() {
        return OpCode.lookup(type);
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeInt(xid);
        out.writeInt(type);
    }

    /** Reads a header. */
    public static RequestHeader decode(JuteReader in) {
        return new RequestHeader(in.readInt("xid"), in.readInt("type"));
    }
}
