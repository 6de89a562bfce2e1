package io.conclave.queues;

import io.conclave.spi.Elapsed;
import java.util.concurrent.atomic.AtomicBoolean;

/** An item on its way to its caller; it belongs to the first that claims it, or is given back. Thread-safe. */
final class Delivery {
    private final ItemName item;
    private final byte[] data;
    private final int version;
    private final Elapsed since;
    private final AtomicBoolean owned = new AtomicBoolean();

    /**
     * A delivery.
     *
     * @param version the version of the item's znode: how often it was delivered by claims
     * @param since a moment before it was taken or claimed
     */
    Delivery(ItemName item, byte[] data, int version, Elapsed since) {
        this.item = item;
        this.data = data;
        this.version = version;
        this.since = since;
    }

    /** Whether it is the caller's from now on; of several only the first hears yes. */
    boolean own() {
        return owned.compareAndSet(false, true);
    }

    ItemName item() {
        return item;
    }

    byte[] data() {
        return data;
    }

    int version() {
        return version;
    }

    Elapsed since() {
        return since;
    }

    @Override
    public String toString() {
        return "Delivery[" + item.name() + ", " + version + "]";
    }
}
