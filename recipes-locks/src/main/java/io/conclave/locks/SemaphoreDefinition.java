package io.conclave.locks;

import java.util.OptionalInt;

/**
 * What all users of a semaphore have to give alike.
 *
 * @param layout where its znodes are
 * @param permits how many permits there are; where their number lives in a znode, how many there are until it is set
 * @param adjustable whether the number lives in a znode
 */
record SemaphoreDefinition(SemaphoreLayout layout, int permits, boolean adjustable) {
    /** The number of permits, unless it lives in a znode. */
    OptionalInt fixedPermits() {
        return adjustable ? OptionalInt.empty() : OptionalInt.of(permits);
    }
}
