package io.conclave.error;

/**
 * The root of everything that Conclave throws; each subtype says what the caller knows about the request's effect.
 *
 * <p>A failed call is one of five things:
 *
 * <ul>
 *   <li>refused: {@link RefusedException}; it had no effect
 *   <li>outcome unknown: {@link OutcomeUnknownException}; it may have had its effect
 *   <li>session gone: {@link SessionGoneException}; nothing of the session is left
 *   <li>not connected: {@link NotConnectedException} of a plain {@code try...} to which the store does not answer, and
 *       {@link ConnectException} of a coordinator that gets no connection; nothing is held
 *   <li>closed: {@link ClosedException}; its owner closed the coordinator or the object
 * </ul>
 *
 * <p>Grants add {@link GrantLostException}. A wait that ran out of time ends with {@link WaitTimeoutException}, a wait
 * for a grant with its subtype {@link AcquireTimeoutException}.
 *
 * <p>What a blocking call throws has the stack of the thread that called. Its cause is the failure where it was found,
 * usually on a thread of the library.
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

    /**
     * The same failure with the stack of the calling thread, and this one as its cause. Blocking calls throw it,
     * because one failure may go to many callers, and is found on a thread that is none of them.
     */
    public abstract ConclaveException withCallersStack();
}
