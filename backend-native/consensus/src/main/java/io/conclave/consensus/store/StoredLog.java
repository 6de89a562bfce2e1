package io.conclave.consensus.store;

import io.conclave.consensus.entry.LogBatch;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/** The log behind some index, for sending. Read by one thread at a time, of any kind; closed on the member's. */
public interface StoredLog extends Closeable {
    /**
     * The next batches, up to so many bytes, but one at least.
     *
     * @param upTo the end of a batch that is durable and committed, behind what was read before
     * @throws IOException if they are not there any more, or cannot be read
     */
    List<LogBatch> read(long upTo, long maxBytes) throws IOException;
}
