package io.conclave.election;

import io.conclave.error.ConclaveException;

/**
 * A hand-over did not take place, and the leader still leads: the named candidate has gone, or others stand between it
 * and the leader.
 */
public final class TransferFailedException extends ConclaveException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with a message that names the candidate and what stood in the way. */
    public TransferFailedException(String message) {
        super(message);
    }

    /** Creates the exception with a message and its cause. */
    public TransferFailedException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    public TransferFailedException withCallersStack() {
        return new TransferFailedException(String.valueOf(getMessage()), this);
    }
}
