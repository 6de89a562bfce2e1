package io.conclave.consensus;

/** Whether the log finds room on its disk. */
public enum DiskState {
    /** There is a spare segment, or none is needed yet. */
    ROOM,
    /** The next segment could not be made, writes still fit into the current one. */
    LOW,
    /** Writes are rejected until there is room. */
    FULL
}
