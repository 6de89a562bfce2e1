package io.conclave.error;

/**
 * The coordinator, its session, or the object that was called was closed by its owner; the request was not sent.
 */
public final class ClosedException extends ConclaveException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with a message that names the request or object concerned. */
    public ClosedException(String message) {
        super(message);
    }

    /** Creates the exception with a message and its cause. */
    public ClosedException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    public ClosedException withCallersStack() {
        return new ClosedException(String.valueOf(getMessage()), this);
    }
}
