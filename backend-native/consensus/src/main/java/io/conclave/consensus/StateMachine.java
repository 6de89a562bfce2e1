package io.conclave.consensus;

import java.io.IOException;
import java.io.InputStream;
import java.util.UUID;

/**
 * What the log's entries are applied to. All methods but {@link #read} are called on the log's one thread. What
 * {@link #apply} throws ends the log, since the machine's state is then unknown.
 */
public interface StateMachine {

    /** Names the cluster whose log this is, with the id that it got at birth; called once, before everything else. */
    void begin(UUID clusterId);

    /** Applies a batch, in log order. Must depend on nothing but the batch and what was applied before. */
    void apply(CommittedBatch batch);

    /** The state after the last applied batch. Must be quick (an immutable root); writing it happens elsewhere. */
    StateSnapshot snapshot();

    /**
     * Reads a state that {@link StateSnapshot#writeTo} wrote; on any thread, while the machine goes on. The stream's
     * checksum has been verified; the log closes it.
     *
     * @return replaces the machine's state by what was read; run on the log's thread
     */
    Runnable read(InputStream snapshot) throws IOException;
}
