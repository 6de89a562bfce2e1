package io.conclave.queues;

import io.conclave.error.RefusedException;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The items of a queue that the store refuses to give, each for a reason of its own that does not pass: the others go
 * out. They are tried again with the next list, and the log names each of them once. State belongs to the session's
 * dispatcher.
 */
final class PassedOver {
    /** How many are passed over in one list: if the store refuses more, it may refuse them all. */
    static final int MOST = 100;

    private static final Logger LOG = LoggerFactory.getLogger(PassedOver.class);

    private final QueueLayout layout;
    private final Set<ItemName> named = new HashSet<>();

    PassedOver(QueueLayout layout) {
        this.layout = layout;
    }

    void add(ItemName item, RefusedException refusal) {
        if (named.add(item)) {
            LOG.warn(
                    "{}: {} cannot be taken, and is passed over: {}. Mend or delete its znode",
                    layout.path(),
                    item.name(),
                    refusal.getMessage());
        }
    }
}
