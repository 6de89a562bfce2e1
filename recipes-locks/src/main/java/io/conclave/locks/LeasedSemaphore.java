package io.conclave.locks;

import io.conclave.coordinator.Coordinator;
import io.conclave.line.ProcessName;
import io.conclave.node.NodePath;
import java.time.Duration;
import java.util.Objects;

/**
 * Permits whose grants outlast the session and the process, until their lease ends; the price: when holders have died
 * and no permit is left, a waiter waits for a whole lease, counted from when it first looked.
 *
 * <p>Everything that {@link LeasedLock} says of its grants and of waiting is so here. An object asks for one permit;
 * {@link #together} gives one that asks for several, which come all at once or not at all. The number of permits is
 * fixed: all who use a path give the same. The head of the line waits until there is room for all that it wants, and is
 * not overtaken. Tokens grow from grant to grant here too, but several holders work at a time: none is the one whose
 * writes a store should prefer. So give none to a guard, which would refuse all holders but the youngest.
 *
 * <p>Immutable and thread-safe; making one costs nothing.
 */
public final class LeasedSemaphore extends LeasedResource {
    /** The most permits: a waiter reads all grants. */
    private static final int MOST = 1_000;

    private LeasedSemaphore(Coordinator coordinator, NodePath path, LeaseRequest.Wish wish) {
        super(coordinator, path, wish);
    }

    /**
     * The semaphore at a path. Holders leave the process id and the host's name for others to see.
     *
     * @param permits how many there are
     * @param lease how long a grant lasts if it is not extended; rounded up to milliseconds
     * @throws IllegalArgumentException if the path breaks a rule, naming it, the number of permits is not positive, or
     *     the lease is not positive or longer than 365 days
     */
    public static LeasedSemaphore at(Coordinator coordinator, String path, int permits, Duration lease) {
        return at(coordinator, NodePath.of(path), permits, lease);
    }

    /** As {@link #at(Coordinator, String, int, Duration)}. */
    public static LeasedSemaphore at(Coordinator coordinator, NodePath path, int permits, Duration lease) {
        if (permits < 1 || permits > MOST) {
            throw new IllegalArgumentException(
                    "Invalid number of permits " + permits + " of " + path + ": it must be from 1 to " + MOST);
        }
        LeaseRecord record = new LeaseRecord(LeaseRecord.checked(lease), 1, ProcessName.get());
        return new LeasedSemaphore(coordinator, path, new LeaseRequest.Wish(record, permits));
    }

    /**
     * The same semaphore; each grant takes so many permits.
     *
     * @throws IllegalArgumentException if the number is not positive, or more than there are
     */
    public LeasedSemaphore together(int count) {
        if (count < 1 || count > wish().total()) {
            throw new IllegalArgumentException("Invalid number of permits " + count + " of " + path()
                    + ": it must be from 1 to " + wish().total());
        }
        LeaseRecord record = wish().record();
        return with(new LeaseRecord(record.lease(), count, record.owner()));
    }

    /** The same semaphore; holders leave this text for others to see. */
    public LeasedSemaphore withOwner(String owner) {
        LeaseRecord record = wish().record();
        return with(new LeaseRecord(record.lease(), record.permits(), Objects.requireNonNull(owner, "owner")));
    }

    private LeasedSemaphore with(LeaseRecord record) {
        return new LeasedSemaphore(coordinator(), path(), new LeaseRequest.Wish(record, wish().total()));
    }

    @Override
    public String toString() {
        return "LeasedSemaphore[" + path() + ", " + wish().total() + " permits]";
    }
}
