package io.conclave.protocol;

/**
 * The header of each part of a multi; alone, the end of the multi.
 *
 * @param type the operation; {@link OpCode#ERROR} for a failed result and at the end
 * @param done whether this is the end
 * @param err -1 in requests and at the end, 0 before a result, the error before a failed one
 */
record MultiHeader(int type, boolean done, int err) implements WireRecord {
    /** The fewest bytes of a part, whose body may be empty. */
    static final int WIRE_BYTES = 2 * Integer.BYTES + 1;

    static final MultiHeader END = new MultiHeader(-1, true, -1);

    static MultiHeader request(OpCode opCode) {
        return new MultiHeader(opCode.code(), false, -1);
    }

    static MultiHeader result(OpCode opCode, int err) {
        return new MultiHeader(opCode.code(), false, err);
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeInt(type);
        out.writeBool(done);
        out.writeInt(err);
    }

    static MultiHeader decode(JuteReader in) {
        return new MultiHeader(in.readInt("multi type"), in.readBool("multi done"), in.readInt("multi err"));
    }

    OpCode opCode() {
        return OpCode.lookup(type)
                .orElseThrow(() -> new MalformedFrameException("multi type", "there is no operation " + type));
    }

    /** Whether a multi of this kind may contain such an operation. */
    static boolean mayContain(OpCode multi, OpCode part) {
        return switch (part) {
            case CREATE, CREATE2, CREATE_CONTAINER, CREATE_TTL, DELETE, SET_DATA, CHECK -> multi == OpCode.MULTI;
            case GET_DATA, GET_CHILDREN -> multi == OpCode.MULTI_READ;
            default -> false;
        };
    }
}
