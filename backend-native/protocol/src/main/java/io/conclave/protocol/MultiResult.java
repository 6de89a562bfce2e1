package io.conclave.protocol;

/**
 * The result of one operation of a multi.
 *
 * @param opCode the operation, or {@link OpCode#ERROR}. A container or a node with a time to live is answered as
 *     {@link OpCode#CREATE2}, because results know no other create with a Stat
 * @param body the result: an {@link ErrorReply} if and only if the operation is ERROR
 */
public record MultiResult(OpCode opCode, ReplyBody body) implements WireRecord {

    /** Checks that the body is one of the operation's. */
    public MultiResult {
        Class<? extends ReplyBody> expected = bodyOf(opCode);
        if (!expected.isInstance(body)) {
            throw new IllegalArgumentException("the result of " + opCode + " is a " + expected.getSimpleName()
                    + ", not a " + body.getClass().getSimpleName());
        }
    }

    /**
     * The result of an operation that succeeded.
     *
     * @param requested the operation that was asked for
     * @param body what it gave
     */
    public static MultiResult succeeded(OpCode requested, ReplyBody body) {
        return new MultiResult(
                switch (requested) {
                    case CREATE_CONTAINER, CREATE_TTL -> OpCode.CREATE2;
                    default -> requested;
                },
                body);
    }

    /**
     * The result of an operation in a multi that failed, or of a read that failed.
     *
     * @param err the error at the operation that failed, 0 before it, {@link ErrorCode#RUNTIME_INCONSISTENCY} behind it
     */
    public static MultiResult failed(int err) {
        return new MultiResult(OpCode.ERROR, new ErrorReply(err));
    }

    @Override
    public void encode(JuteWriter out) {
        MultiHeader.result(opCode, body instanceof ErrorReply error ? error.err() : 0)
                .encode(out);
        body.encode(out);
    }

    static MultiResult decode(MultiHeader header, JuteReader in) {
        OpCode opCode = header.opCode();
        return switch (opCode) {
            case ERROR -> new MultiResult(opCode, ErrorReply.decode(in));
            case CREATE, CREATE2, DELETE, SET_DATA, CHECK, GET_DATA, GET_CHILDREN ->
                new MultiResult(opCode, ReplyBody.decode(opCode, in));
            default -> throw new MalformedFrameException("multi type", opCode + " is not a result of a multi");
        };
    }

    private static Class<? extends ReplyBody> bodyOf(OpCode opCode) {
        return switch (opCode) {
            case ERROR -> ErrorReply.class;
            case CREATE -> CreateReply.class;
            case CREATE2 -> Create2Reply.class;
            case DELETE, CHECK -> EmptyReply.class;
            case SET_DATA -> StatReply.class;
            case GET_DATA -> GetDataReply.class;
            case GET_CHILDREN -> GetChildrenReply.class;
            default -> throw new IllegalArgumentException(opCode + " is not a result of a multi");
        };
    }
}
