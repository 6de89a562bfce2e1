package io.conclave.benchmarks;

/**
 * How a queue is used.
 *
 * @param kind the order, and how items leave it
 * @param consumers how many sessions take items all the time
 * @param callers how many threads each of these sessions and the producer have
 * @param inFlight how many items are put and not taken, at most
 */
record QueueCase(Kind kind, int consumers, int callers, int inFlight) {
    /** The order, and how items leave the queue. */
    enum Kind {
        /** First in, first out; an item is deleted when it is handed out. */
        FIFO("queue"),
        /** First in, first out; an item is deleted when its consumer is done with it. */
        CLAIMED("claimed queue"),
        /** By priority; an item is deleted when it is handed out. */
        PRIORITY("priority queue");

        private final String label;

        Kind(String label) {
            this.label = label;
        }
    }

    @Override
    public String toString() {
        return kind.label + ", " + consumers + (consumers == 1 ? " consumer" : " consumers")
                + (callers == 1 ? "" : " of " + callers + " callers") + ", " + inFlight + " in flight";
    }
}
