package io.conclave.error;

/**
 * The grant (lock, leadership, permit) is no longer held: its session was lost, it was revoked, or its znode was deleted.
 */
public final class GrantLostException extends ConclaveException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with a message that names the request or object concerned. */
    public GrantLostException(String message) {
        super(message);
    }

    /** Creates the exception with a message and its cause. */
    public GrantLostException(String message, Throwable cause) {
        super(message, cause);
    }
}
