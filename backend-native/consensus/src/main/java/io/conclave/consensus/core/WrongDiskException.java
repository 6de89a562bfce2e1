package io.conclave.consensus.core;

/** This member's disk is not the one that it was: what is on it contradicts what the others have committed. */
public final class WrongDiskException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    private final boolean outvoted;

    /**
     * Why, in an operator's words.
     *
     * @param outvoted the others have all that counts, so this member may come back without its log
     */
    public WrongDiskException(String message, boolean outvoted) {
        super(message);
        this.outvoted = outvoted;
    }

    /** Whether the others have all that counts, so that this member may come back without its log. */
    public boolean isOutvoted() {
        return outvoted;
    }
}
