package io.conclave.consensus;

/** Sizes and numbers of the file formats; see the classes of each file for its layout. */
final class LogFormat {
    /** The unit that a disk writes whole or not at all. */
    static final int SECTOR = 512;

    static final int VERSION = 1;
    static final int SEGMENT_HEADER_BYTES = SECTOR;
    static final int BATCH_HEADER_BYTES = 88;
    static final int ENTRY_HEADER_BYTES = 5;

    /** Kept free at the end of a segment for TERM entries, so that a member with a full disk can still restart. */
    static final int RESERVE_BYTES = 16 * SECTOR;

    private LogFormat() {}

    static int batchBytesFor(int entryBytes) {
        return BATCH_HEADER_BYTES + ENTRY_HEADER_BYTES + entryBytes;
    }

    static int segmentBytesFor(int batchBytes) {
        return SEGMENT_HEADER_BYTES + wholeSectors(batchBytes) + RESERVE_BYTES;
    }

    static int wholeSectors(int bytes) {
        return (bytes + SECTOR - 1) / SECTOR * SECTOR;
    }
}
