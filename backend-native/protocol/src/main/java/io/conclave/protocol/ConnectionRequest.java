package io.conclave.protocol;

import org.jspecify.annotations.Nullable;

/** The requests about the connection and its session: who the client is, whether it lives, and its end. */
public sealed interface ConnectionRequest extends RequestBody {

    /**
     * Adds an identity to the connection; goes with {@link Xid#AUTH}. Answered by {@link ReplyBody.Empty}.
     *
     * @param type always 0 so far
     * @param scheme how the identity is proved
     * @param credentials the proof, in the form of the scheme
     */
    record Auth(int type, String scheme, byte @Nullable [] credentials) implements ConnectionRequest {
        @Override
        public OpCode opCode() {
            return OpCode.AUTH;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeInt(type);
            out.writeString(scheme);
            out.writeBuffer(credentials);
        }

        static Auth decode(JuteReader in) {
            return new Auth(in.readInt("type"), in.readString("scheme"), in.readBuffer("auth"));
        }
    }

    /** A step of a SASL authentication, with the client's token. Answered by {@link ReplyBody.Sasl}. */
    record Sasl(byte @Nullable [] token) implements ConnectionRequest {
        @Override
        public OpCode opCode() {
            return OpCode.SASL;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeBuffer(token);
        }

        static Sasl decode(JuteReader in) {
            return new Sasl(in.readBuffer("token"));
        }
    }

    /**
     * A request that is all header.
     *
     * @param opCode {@link OpCode#PING}, {@link OpCode#CLOSE_SESSION} or {@link OpCode#WHO_AM_I}
     */
    record Empty(OpCode opCode) implements ConnectionRequest {
        /** A ping; goes with {@link Xid#PING}. */
        public static final Empty PING = new Empty(OpCode.PING);

        /** The end of a session. */
        public static final Empty CLOSE_SESSION = new Empty(OpCode.CLOSE_SESSION);

        /** The question for the connection's identities. */
        public static final Empty WHO_AM_I = new Empty(OpCode.WHO_AM_I);

        /** Checks that the operation is one of the three. */
        public Empty {
            switch (opCode) {
                case PING, CLOSE_SESSION, WHO_AM_I -> {}
                default -> throw new IllegalArgumentException(opCode + " needs a body");
            }
        }

        @Override
        public void encode(JuteWriter out) {}
    }
}
