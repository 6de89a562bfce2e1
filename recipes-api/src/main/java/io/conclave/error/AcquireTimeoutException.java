package io.conclave.error;

/**
 * The wait for a grant ran out of time; nothing is held, and the contender's znode is deleted at once or as soon as the connection is back.
 */
public final class AcquireTimeoutException extends ConclaveException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with a message that names the request or object concerned. */
    public AcquireTimeoutException(String message) {
        super(message);
    }

    /** Creates the exception with a message and its cause. */
    public AcquireTimeoutException(String message, Throwable cause) {
        super(message, cause);
    }
}
