package io.conclave.consensus.store;

/**
 * Where the log begins: behind an installed snapshot, or at the cluster's bootstrap. Nothing below it counts, even if
 * there are files.
 *
 * @param segment the first segment that belongs to the log
 * @param index the entry before the log's first; the log needs a snapshot that reaches it, but for 0
 */
record LogBase(long segment, long index) {
    static final LogBase BOOTSTRAP = new LogBase(1, 0);

    LogPosition start() {
        return new LogPosition(segment, LogFormat.SEGMENT_HEADER_BYTES);
    }
}
