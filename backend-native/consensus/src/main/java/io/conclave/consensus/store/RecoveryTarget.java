package io.conclave.consensus.store;

import io.conclave.consensus.entry.LogBatch;
import java.io.IOException;
import java.io.InputStream;

/** Receives what recovery reads, in log order. */
public interface RecoveryTarget {

    /** There is a snapshot; the stream is the application's part. Called once at most, before any batch. */
    void restore(SnapshotPosition position, InputStream state) throws IOException;

    /** A batch that is known to be committed. */
    void committed(LogBatch batch);
}
