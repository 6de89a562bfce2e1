package io.conclave.locks;

/**
 * A shared lock that is held for reading, until it is closed or lost: others may read as well, no one writes.
 *
 * <p>Its token tells a guard that no writer has come since, and is to be checked only, never remembered as the largest:
 * readers do not come one after the other.
 */
public interface ReadGrant extends LockGrant {}
