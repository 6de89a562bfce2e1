package io.conclave.guards;

import io.conclave.error.ConclaveException;
import io.conclave.grant.FencingToken;

/**
 * A guard has seen a larger token: another client was granted the resource after the caller, whose write must not take
 * effect.
 */
public final class StaleTokenException extends ConclaveException {
    private static final long serialVersionUID = 1L;

    private final String resource;
    private final FencingToken token;
    private final FencingToken largest;

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
        this.token = token;
        this.largest = largest;
    }

    private StaleTokenException(StaleTokenException original) {
        super(String.valueOf(original.getMessage()), original);
        this.resource = original.resource;
        this.token = original.token;
        this.largest = original.largest;
    }

    /** What is guarded. */
    public String resource() {
        return resource;
    }

    /** The caller's token. */
    public FencingToken token() {
        return token;
    }

    /** The largest token that was seen. */
    public FencingToken largest() {
        return largest;
    }

    @Override
    public StaleTokenException withCallersStack() {
        return new StaleTokenException(this);
    }
}
