package io.conclave.locks;

import io.conclave.coordinator.Coordinator;
import io.conclave.line.ProcessName;
import io.conclave.node.NodePath;
import java.time.Duration;
import java.util.Objects;

/**
 * A mutex whose grant outlasts the session and the process, until its lease ends; the price: when a holder has died,
 * a waiter waits for a whole lease, counted from when it first looked.
 *
 * <p>Why that is the price: no clock of another machine is asked. A holder counts its lease from before it sent the
 * request, by its own clocks. A waiter counts the same time by its own monotonic clock, from when it first saw what the
 * holder wrote; if nothing was written since, the lease is over. So clocks may differ by any amount; only that they go
 * equally fast, to one percent, is relied on. A {@link DistributedLock} is freed with its holder's session instead:
 * prefer it unless work must keep its lock over restarts, or over outages longer than a session.
 *
 * <p>{@link LeasedGrant#extend} begins the lease anew. {@link LeasedGrant#id} names the grant in any process:
 * {@link #release} gives it back from anywhere, {@link #resume} goes on with it. Tokens grow from grant to grant.
 * {@code whileHeld} does not extend: the work is interrupted when the lease is over.
 *
 * <p>Waiters stand in a line, first come, first served, with places that go with their sessions: a wait fails if its
 * session is lost. An acquire that fails leaves no lease behind, unless its process dies or its coordinator is closed
 * in between: then the lease ends by itself. Closing the coordinator releases nothing. {@code tryAcquire} finds a dead
 * holder's lock free only if this coordinator has looked before, a whole lease ago: so tries that are repeated come to
 * an end as well.
 *
 * <p>Immutable and thread-safe; making one costs nothing.
 */
public final class LeasedLock extends LeasedResource {
    private LeasedLock(Coordinator coordinator, NodePath path, LeaseRequest.Wish wish) {
        super(coordinator, path, wish);
    }

    /**
     * The lock at a path. Holders leave the process id and the host's name for others to see.
     *
     * @param lease how long a grant lasts if it is not extended; rounded up to milliseconds. Holders may give different
     *     ones
     * @throws IllegalArgumentException if the path breaks a rule, naming it, or the lease is not positive or longer
     *     than 365 days
     */
    public static LeasedLock at(Coordinator coordinator, String path, Duration lease) {
        return at(coordinator, NodePath.of(path), lease);
    }

    /** As {@link #at(Coordinator, String, Duration)}. */
    public static LeasedLock at(Coordinator coordinator, NodePath path, Duration lease) {
        LeaseRecord record = new LeaseRecord(LeaseRecord.checked(lease), 1, ProcessName.get());
        return new LeasedLock(coordinator, path, new LeaseRequest.Wish(record, 1));
    }

    /** The same lock; holders leave this text for others to see. */
    public LeasedLock withOwner(String owner) {
        LeaseRecord record = new LeaseRecord(wish().record().lease(), 1, Objects.requireNonNull(owner, "owner"));
        return new LeasedLock(coordinator(), path(), new LeaseRequest.Wish(record, 1));
    }

    @Override
    public String toString() {
        return "LeasedLock[" + path() + "]";
    }
}
