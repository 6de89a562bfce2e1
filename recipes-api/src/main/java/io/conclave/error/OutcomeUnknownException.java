package io.conclave.error;

/**
 * The connection went before the reply: the request may or may not have taken effect.
 *
 * <p>If it takes effect at all, it does so before the first request that is answered on the session's next connection.
 */
public final class OutcomeUnknownException extends ConclaveException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with a message that names the request or object concerned. */
    public OutcomeUnknownException(String message) {
        super(message);
    }

    /** Creates the exception with a message and its cause. */
    public OutcomeUnknownException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    public OutcomeUnknownException withCallersStack() {
        return new OutcomeUnknownException(String.valueOf(getMessage()), this);
    }
}
