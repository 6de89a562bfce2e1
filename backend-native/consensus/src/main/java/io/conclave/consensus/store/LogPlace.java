package io.conclave.consensus.store;

/** An entry of the log. */
record LogPlace(long index, long term) {}
