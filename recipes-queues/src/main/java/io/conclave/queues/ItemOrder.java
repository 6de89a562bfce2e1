package io.conclave.queues;

/** In which order a queue gives its items out, and which of them it gives out yet. */
enum ItemOrder {
    /** First in, first out, by the server's sequence. */
    BY_SEQUENCE,
    /** The lowest number first, then by sequence. */
    BY_PRIORITY,
    /** The earliest time first, then by sequence, and none before its time. */
    BY_TIME;

    /** Whether an item may overtake those that were put before it. */
    boolean isRanked() {
        return this != BY_SEQUENCE;
    }

    /** How many milliseconds of the wall clock an item must wait; zero or less if it may go out. */
    long untilDue(ItemName item, long wallMillis) {
        return this == BY_TIME ? item.rank() - wallMillis : 0;
    }
}
