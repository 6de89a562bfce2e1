package io.conclave.consensus.core;

/** An entry of a log, which is the end of a batch. */
public record EntryPlace(long index, long term) {
    /** Before the first entry. */
    public static final EntryPlace START = new EntryPlace(0, 0);
}
