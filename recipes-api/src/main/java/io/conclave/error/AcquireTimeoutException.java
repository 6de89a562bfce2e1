package io.conclave.error;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The wait for a grant ran out of time. Nothing is held, and the waiter's znode is deleted at once or as soon as the
 * connection is back. {@link #holder()} names the holder, if it is known.
 */
public final class AcquireTimeoutException extends WaitTimeoutException {
    private static final long serialVersionUID = 1L;

    private final @Nullable Holder holder;

    /**
     * Creates the exception.
     *
     * @param path of the lock, the election, the semaphore or the group member
     * @param waited how long the caller was ready to wait
     * @param holder the holder at the time, if it is known
     * @param message names what was waited for, for how long, and the holder
     */
    public AcquireTimeoutException(String path, Duration waited, Optional<Holder> holder, String message) {
        super(path, waited, message);
        this.holder = holder.orElse(null);
    }

    private AcquireTimeoutException(AcquireTimeoutException original) {
        super(original.path(), original.waited(), String.valueOf(original.getMessage()), original);
        this.holder = original.holder;
    }

    /**
     * The holder when it was last read, shortly before the time was over. Empty if that is not known: because there was
     * no connection, say, or because many hold it together.
     */
    public Optional<Holder> holder() {
        return Optional.ofNullable(holder);
    }

    @Override
    public AcquireTimeoutException withCallersStack() {
        return new AcquireTimeoutException(this);
    }
}
