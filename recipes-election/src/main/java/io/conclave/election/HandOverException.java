package io.conclave.election;

import io.conclave.error.ConclaveException;

/** A hand-over did not take place, and the leader still leads: the named candidate has gone, or others stand between it and the leader. */
public final class HandOverException extends ConclaveException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with a message that names the candidate and what stood in the way. */
    public HandOverException(String message) {
        super(message);
    }

    /** Creates the exception with a message and its cause. */
    public HandOverException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    public HandOverException withCallersStack() {
        return new HandOverException(String.valueOf(getMessage()), this);
    }
}
