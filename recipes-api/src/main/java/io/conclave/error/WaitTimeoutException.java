package io.conclave.error;

import java.time.Duration;
import java.util.Objects;

/**
 * A wait ran out of time: of a barrier, a view, a new id, or for a grant ({@link AcquireTimeoutException}). Nothing
 * that the waiter made stays: it is deleted at once, or as soon as the connection is back.
 */
public class WaitTimeoutException extends ConclaveException {
    private static final long serialVersionUID = 1L;

    private final String path;
    private final Duration waited;

    /**
     * Creates the exception.
     *
     * @param path of what was waited for
     * @param waited how long the caller was ready to wait
     * @param message says what was waited for, and for how long
     */
    public WaitTimeoutException(String path, Duration waited, String message) {
        super(message);
        this.path = Objects.requireNonNull(path, "path");
        this.waited = Objects.requireNonNull(waited, "waited");
    }

    /** Creates the exception with its cause. */
    public WaitTimeoutException(String path, Duration waited, String message, Throwable cause) {
        super(message, cause);
        this.path = Objects.requireNonNull(path, "path");
        this.waited = Objects.requireNonNull(waited, "waited");
    }

    /** The path of what was waited for, in the coordinator's namespace. */
    public final String path() {
        return path;
    }

    /** How long the caller was ready to wait. */
    public final Duration waited() {
        return waited;
    }

    @Override
    public WaitTimeoutException withCallersStack() {
        return new WaitTimeoutException(path, waited, String.valueOf(getMessage()), this);
    }
}
