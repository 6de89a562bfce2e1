package io.conclave.queues;

import io.conclave.spi.Elapsed;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An item on its way to its caller; it belongs to the first that claims it, or is given back. Thread-safe.
 *
 * @param version the version of the item's znode: how often it was delivered by claims
 * @param since a moment before it was taken or claimed
 */
record Delivery(ItemName item, byte[] data, int version, Elapsed since, AtomicBoolean owned) {
    Delivery(ItemName item, byte[] data, int version, Elapsed since) {
        this(item, data, version, since, new AtomicBoolean());
    }

    /** Whether it is the caller's from now on; of several callers only the first gets true. */
    boolean own() {
        return owned.compareAndSet(false, true);
    }

    @Override
    public String toString() {
        return "Delivery[" + item.name() + ", " + version + "]";
    }
}
