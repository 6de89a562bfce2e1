package io.conclave.benchmarks;

/**
 * How a queue is used.
 *
 * @param byPriority whether by priority, or first in, first out
 * @param consumers how many sessions take items all the time
 * @param inFlight how many items are put and not taken, at most
 */
record QueueCase(boolean byPriority, int consumers, int inFlight) {
    @Override
    public String toString() {
        return (byPriority ? "priority queue, " : "queue, ") + consumers
                + (consumers == 1 ? " consumer, " : " consumers, ") + inFlight + " in flight";
    }
}
