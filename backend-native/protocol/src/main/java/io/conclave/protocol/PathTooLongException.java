package io.conclave.protocol;

/**
 * A path is longer than the reader allows. It is found out by the length in front of the path, before any of its bytes
 * is looked at. Carries no stack trace, for a client can cause it at will.
 */
public final class PathTooLongException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** How long the path is. */
    private final int bytes;

    PathTooLongException(String field, int bytes, int maxBytes) {
        super(field + ": has " + bytes + " bytes, and " + maxBytes + " are allowed", null, false, false);
        this.bytes = bytes;
    }

    /** How many bytes the path has. */
    public int bytes() {
        return bytes;
    }
}
