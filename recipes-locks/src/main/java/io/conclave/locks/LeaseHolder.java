package io.conclave.locks;

import java.time.Duration;

/**
 * A grant with a lease, as its znode shows it; it may be over by now.
 *
 * @param id names it, for {@link LeasedLock#release}
 * @param owner what its owner has left for others to see; by default its process id and host name
 * @param permits how many permits it takes; 1 of a lock
 * @param lease how long it lasts from each change
 */
public record LeaseHolder(String id, String owner, int permits, Duration lease) {}
