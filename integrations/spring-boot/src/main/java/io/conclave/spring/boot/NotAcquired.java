package io.conclave.spring.boot;

/** What a call of a {@link DistributedLocked} method does if the lock is not acquired in time. */
public enum NotAcquired {
    /** The caller gets an {@link io.conclave.error.AcquireTimeoutException}, which names the holder if it is known. */
    THROW,
    /**
     * The method is not run; the caller gets null, or an empty {@link java.util.Optional}. Only if another one holds
     * the lock: other failures, as of the connection, are thrown.
     */
    SKIP
}
