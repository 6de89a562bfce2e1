/**
 * Locks of scheduled tasks, for ShedLock: {@link io.conclave.shedlock.ConclaveLockProvider} is its lock provider.
 */
@NullMarked
package io.conclave.shedlock;

import org.jspecify.annotations.NullMarked;
