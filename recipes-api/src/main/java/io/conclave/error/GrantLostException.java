package io.conclave.error;

import java.util.Objects;

/**
 * The grant (lock, leadership, permit, claim) is no longer held: its session was lost, it was revoked, or its znode was
 * deleted. {@link #reason()} says which.
 */
public final class GrantLostException extends ConclaveException {
    private static final long serialVersionUID = 1L;

    private final LossReason reason;
    private final String path;

    /**
     * Creates the exception.
     *
     * @param reason why the grant is not held
     * @param path of what was granted: of the lock, the election, the semaphore or the queue
     * @param message names what was held and says why it is not
     */
    public GrantLostException(LossReason reason, String path, String message) {
        super(message);
        this.reason = Objects.requireNonNull(reason, "reason");
        this.path = Objects.requireNonNull(path, "path");
    }

    /** Creates the exception with its cause. */
    public GrantLostException(LossReason reason, String path, String message, Throwable cause) {
        super(message, cause);
        this.reason = Objects.requireNonNull(reason, "reason");
        this.path = Objects.requireNonNull(path, "path");
    }

    /** Why the grant is not held. */
    public LossReason reason() {
        return reason;
    }

    /**
     * The path of what was granted, in the coordinator's namespace: of the lock, the election, the semaphore or the
     * queue.
     */
    public String path() {
        return path;
    }

    @Override
    public GrantLostException withCallersStack() {
        return new GrantLostException(reason, path, String.valueOf(getMessage()), this);
    }
}
