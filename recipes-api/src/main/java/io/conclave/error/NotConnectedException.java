package io.conclave.error;

/**
 * The store did not answer a {@code try...} in time: it cannot be reached, or is slow. Whether the lock, permit or item
 * was free is not known. Nothing is acquired, and whatever the attempt left at the store is undone as soon as the
 * connection is back. It may be tried again at any time.
 */
public final class NotConnectedException extends ConclaveException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with a message that names the request or object concerned. */
    public NotConnectedException(String message) {
        super(message);
    }

    /** Creates the exception with a message and its cause. */
    public NotConnectedException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    public NotConnectedException withCallersStack() {
        return new NotConnectedException(String.valueOf(getMessage()), this);
    }
}
