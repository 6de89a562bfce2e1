package io.conclave.error;

/**
 * The backend could not be reached, or refused the credentials, within the time allowed for connecting.
 */
public final class ConnectException extends ConclaveException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with a message that names the request or object concerned. */
    public ConnectException(String message) {
        super(message);
    }

    /** Creates the exception with a message and its cause. */
    public ConnectException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    public ConnectException withCallersStack() {
        return new ConnectException(String.valueOf(getMessage()), this);
    }
}
