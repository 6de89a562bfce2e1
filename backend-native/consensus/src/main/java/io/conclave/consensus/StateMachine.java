package io.conclave.consensus;

import java.io.IOException;
import java.io.InputStream;
import java.util.UUID;

/**
 * What the log's entries are applied to. All methods but {@link #read} are called on the log's one thread. What
 * {@link #apply} throws ends the log, since the machine's state is then unknown.
 *
 * <p>Where another member's snapshot replaces the state, there is never more than one state in memory: the old one is
 * {@linkplain #drop dropped} before the new one is read.
 */
public interface StateMachine {

    /**
     * Names the cluster whose log this is, with the id that it got at bootstrap; called once, before everything else.
     */
    void begin(UUID clusterId);

    /** Applies a batch, in log order. Must depend on nothing but the batch and what was applied before. */
    void apply(CommittedBatch batch);

    /** The state after the last applied batch. Must be quick (an immutable root); writing it happens elsewhere. */
    StateSnapshot snapshot();

    /**
     * Forgets the state: nothing may hold on to it any more. Until what {@link #read} returns has run, nothing is
     * applied and no {@link #snapshot} is asked for. May be called again before that.
     */
    void drop();

    /**
     * Reads a state that {@link StateSnapshot#writeTo} wrote; on any thread, while the machine has no state, or that of
     * its beginning. The stream's checksum has been verified; the log closes it. May fail because the log does not want
     * the state any more; what was read is to be forgotten then.
     *
     * @return makes what was read the machine's state; run on the log's thread, or never
     */
    Runnable read(InputStream snapshot) throws IOException;
}
