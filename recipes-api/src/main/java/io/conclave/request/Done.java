package io.conclave.request;

/** The answer of a request that says no more than that it was done. */
public enum Done {
    /** It was done. */
    DONE
}
