package io.conclave.tree;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A hash that strangers cannot make equal for many things: the beginning of SHA-256 over their text. It tells keys
 * apart whose {@code hashCode} is the same, and is the same on all members.
 */
final class SecondHash {
    /** Of its bits so many are used: a multiple of those of a branch. */
    static final int BITS = 63;

    private SecondHash() {}

    static long of(Object key) {
        String text = key.toString();
        ByteBuffer characters = ByteBuffer.allocate(text.length() * Character.BYTES);
        characters.asCharBuffer().put(text);
        return ByteBuffer.wrap(sha256().digest(characters.array())).getLong();
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("each Java has SHA-256", e);
        }
    }
}
