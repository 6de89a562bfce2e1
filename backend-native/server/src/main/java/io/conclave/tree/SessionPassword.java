package io.conclave.tree;

import java.nio.ByteBuffer;

/** The 16 random bytes that prove to a server that a connection may take up a session. Its text shows nothing of it. */
public final class SessionPassword {
    /** The length of a password. */
    public static final int BYTES = 16;

    private final long high;
    private final long low;

    private SessionPassword(long high, long low) {
        this.high = high;
        this.low = low;
    }

    /**
     * The password of the given bytes.
     *
     * @throws IllegalArgumentException if there are not exactly 16 of them
     */
    public static SessionPassword of(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException(
                    "a session password has " + BYTES + " bytes, this one has " + bytes.length);
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new SessionPassword(buffer.getLong(), buffer.getLong());
    }

    /** A new array with the bytes. */
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES).putLong(high).putLong(low).array();
    }

    /** Compares without branching on the content, so that the time taken tells nothing. */
    @Override
    public boolean equals(@org.jspecify.annotations.Nullable Object other) {
        return other instanceof SessionPassword that && ((high ^ that.high) | (low ^ that.low)) == 0;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(high * 31 + low);
    }

    @Override
    public String toString() {
        return "SessionPassword[hidden]";
    }
}
