package io.conclave.tree;

/** Bytes of a log entry or snapshot are not what this version writes: damaged, cut, or from a newer version. */
public final class TreeFormatException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public TreeFormatException(String message) {
        super(message);
    }

    TreeFormatException(String message, Throwable cause) {
        super(message, cause);
    }
}
