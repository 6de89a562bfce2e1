package io.conclave.protocol;

/**
 * A request that is all header.
 *
 * @param opCode {@link OpCode#PING}, {@link OpCode#CLOSE_SESSION} or {@link OpCode#WHO_AM_I}
 */
public record EmptyRequest(OpCode opCode) implements RequestBody {
    /** A ping; goes with {@link Xid#PING}. */
    public static final EmptyRequest PING = new EmptyRequest(OpCode.PING);

    /** The end of a session. */
    public static final EmptyRequest CLOSE_SESSION = new EmptyRequest(OpCode.CLOSE_SESSION);

    /** The question for the connection's identities. */
    public static final EmptyRequest WHO_AM_I = new EmptyRequest(OpCode.WHO_AM_I);

    /** Checks that the operation is one of the three. */
    public EmptyRequest {
        switch (opCode) {
            case PING, CLOSE_SESSION, WHO_AM_I -> {}
            default -> throw new IllegalArgumentException(opCode + " needs a body");
        }
    }

    @Override
    public void encode(JuteWriter out) {}
}
