package io.conclave.membership;

import io.conclave.error.LossReason;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;

/**
 * A member's part in a {@link Partitioner}, until it is closed or the member is thrown out. Thread-safe.
 *
 * <p>When the session is lost all partitions are lost with it; the member joins again by itself on the coordinator's
 * next session, and gets its share again.
 */
public interface PartitionShare extends AutoCloseable {
    /** What the member is called. */
    String id();

    /** The partitions that it holds now, by their names. Out of date as soon as it is known. Never blocks. */
    SortedMap<String, PartitionGrant> held();

    /**
     * Completes with the reason when the member takes part no more and holds nothing; never exceptionally. A lost
     * session does not end it. Its continuations run on a listener thread and may block.
     */
    CompletableFuture<LossReason> ended();

    /**
     * Leaves: gives all partitions back and leaves the group. Idempotent. Blocks until the listener has returned for
     * each and the backend has confirmed it, or the session is gone; ignores interrupts (the thread's flag is kept).
     *
     * @throws IllegalStateException if called by the listener, which would wait for itself
     */
    @Override
    void close();

    /** Leaves without waiting. Completes on a listener thread when all is given back; never exceptionally. */
    CompletableFuture<Void> closeAsync();
}
