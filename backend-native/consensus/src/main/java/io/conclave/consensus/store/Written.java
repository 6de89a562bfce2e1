package io.conclave.consensus.store;

/** A batch of the file: where it starts, and where the log ends with it. */
record Written(LogPosition start, LogTail after) {}
