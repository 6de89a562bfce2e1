package io.conclave.tree;

/** Bytes of a log entry or snapshot are not what this version writes: damaged, cut, or from a newer version. */
public final class TreeFormatException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final long offset;

    public TreeFormatException(String message) {
        super(message);
        offset = 0;
    }

    TreeFormatException(String message, Throwable cause) {
        super(message, cause);
        offset = 0;
    }

    private TreeFormatException(TreeFormatException cause, long offset) {
        super(cause.getMessage(), cause);
        this.offset = offset;
    }

    TreeFormatException at(long newOffset) {
        return new TreeFormatException(this, newOffset);
    }

    /** In a snapshot: where the chunk begins in which it was found. */
    public long offset() {
        return offset;
    }
}
