package io.conclave.error;

/**
 * The session has expired or was ended: its ephemeral znodes are gone or about to go, and no request of it takes effect
 * any more.
 */
public final class SessionGoneException extends ConclaveException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with a message that names the request or object concerned. */
    public SessionGoneException(String message) {
        super(message);
    }

    /** Creates the exception with a message and its cause. */
    public SessionGoneException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    public SessionGoneException withCallersStack() {
        return new SessionGoneException(String.valueOf(getMessage()), this);
    }
}
