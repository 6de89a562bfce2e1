package io.conclave.testkit.memory;

import java.util.ArrayDeque;
import java.util.Queue;

/**
 * What the server sends to one session - replies, events, answers to heartbeats - in order, where a fault can hold it.
 * Guarded by the store's lock.
 */
final class ReplyLine {
    private final Queue<Runnable> held = new ArrayDeque<>();
    private boolean isHolding;

    /** Everything from the server goes through here. */
    void deliver(Runnable arrival) {
        if (isHolding) {
            held.add(arrival);
        } else {
            arrival.run();
        }
    }

    boolean isHolding() {
        return isHolding;
    }

    void hold() {
        isHolding = true;
    }

    /** Lets through what was held, until one of the arrivals has the rest held again. */
    void release() {
        isHolding = false;
        while (!isHolding && !held.isEmpty()) {
            held.remove().run();
        }
    }

    /** The connection goes, and what was held with it. */
    void cut() {
        isHolding = false;
        held.clear();
    }
}
