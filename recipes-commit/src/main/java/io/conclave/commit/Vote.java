package io.conclave.commit;

/** What a site says to a transaction; it is given once. */
public enum Vote {
    /**
     * The site has done all that it takes so that it can commit whatever happens, and will abort if that is decided.
     */
    COMMIT,
    /** The transaction must not be committed. It is decided by that, whatever the others say. */
    ABORT
}
