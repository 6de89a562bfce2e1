package io.conclave.error;

/**
 * The root of everything that Conclave throws; each subtype says what the caller knows about the request's effect.
 *
 * <p>A failed call is one of four things: {@link RefusedException} (it had no effect), {@link OutcomeUnknownException}
 * (it may have had its effect), {@link SessionGoneException} (nothing of the session is left), {@link ClosedException}
 * (the object was closed by its owner). Grants add {@link GrantLostException}; a wait that ran out of time ends with {@link
 * AcquireTimeoutException}.
 */
public abstract class ConclaveException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with a message that names the input and the rule. */
    protected ConclaveException(String message) {
        super(message);
    }

    /** Creates the exception with a message and its cause. */
    protected ConclaveException(String message, Throwable cause) {
        super(message, cause);
    }
}
