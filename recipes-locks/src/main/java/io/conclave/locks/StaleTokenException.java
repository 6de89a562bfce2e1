package io.conclave.locks;

import io.conclave.error.ConclaveException;
import io.conclave.grant.FencingToken;

/** A guard has seen a larger token: somebody else was granted the resource after the caller, whose write must not take effect. */
public final class StaleTokenException extends ConclaveException {
    private static final long serialVersionUID = 1L;

    // numbers, because a token cannot be serialized and an exception can
    private final String resource;
    private final long generation;
    private final long zxid;
    private final long largestGeneration;
    private final long largestZxid;

    /**
     * Creates the exception.
     *
     * @param resource what is guarded
     * @param token the caller's token
     * @param largest the largest one that was seen
     */
    public StaleTokenException(String resource, FencingToken token, FencingToken largest) {
        super("Token " + token + " of \"" + resource + "\" is stale: " + largest + " has been seen");
        this.resource = resource;
        this.generation = token.generation();
        this.zxid = token.zxid();
        this.largestGeneration = largest.generation();
        this.largestZxid = largest.zxid();
    }

    private StaleTokenException(StaleTokenException original) {
        super(String.valueOf(original.getMessage()), original);
        this.resource = original.resource;
        this.generation = original.generation;
        this.zxid = original.zxid;
        this.largestGeneration = original.largestGeneration;
        this.largestZxid = original.largestZxid;
    }

    /** What is guarded. */
    public String resource() {
        return resource;
    }

    /** The caller's token. */
    public FencingToken token() {
        return new FencingToken(generation, zxid);
    }

    /** The largest token that was seen. */
    public FencingToken largest() {
        return new FencingToken(largestGeneration, largestZxid);
    }

    @Override
    public StaleTokenException withCallersStack() {
        return new StaleTokenException(this);
    }
}
