package io.conclave.locks;

/** How a lock is held or waited for. */
public enum LockMode {
    /** By one at a time: a mutex, and the writer of a shared lock. */
    EXCLUSIVE,
    /** With others: the readers of a shared lock. */
    SHARED
}
