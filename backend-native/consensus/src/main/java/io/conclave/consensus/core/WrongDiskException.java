package io.conclave.consensus.core;

/** This member's disk is not the one that it was: what is on it contradicts what the others have committed. */
public final class WrongDiskException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    private final boolean outvoted;
    private final long committedIndex;

    /**
     * Why, in an operator's words.
     *
     * @param outvoted the others have all that counts, so this member may come back without its log
     * @param committedIndex what the others must have committed if it is true; 0 if each that confirms it must know of
     *     it itself
     */
    public WrongDiskException(String message, boolean outvoted, long committedIndex) {
        super(message);
        this.outvoted = outvoted;
        this.committedIndex = committedIndex;
    }

    /** Whether the others have all that counts, so that this member may come back without its log. */
    public boolean isOutvoted() {
        return outvoted;
    }

    /** What the others must have committed if it is true; 0 if each that confirms it must know of it itself. */
    public long committedIndex() {
        return committedIndex;
    }
}
