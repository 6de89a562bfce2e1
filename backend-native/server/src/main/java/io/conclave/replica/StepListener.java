package io.conclave.replica;

import io.conclave.tree.TreeState;
import java.util.List;

/** Called with what was applied; on the log's thread, in log order. Must not block and must not throw. */
public interface StepListener {

    /**
     * From here on, the state is another one, which no steps lead to: the first one, or that of a snapshot. What
     * was said about states before it is void.
     */
    void began(TreeState state);

    /**
     * The state is forgotten, for another one is read that takes its place: nothing may hold on to it, and no client
     * may be served from it, until {@link #began}.
     */
    default void dropped() {}

    /**
     * A batch was applied.
     *
     * @param steps the batch's entries in order, never empty
     */
    void applied(List<Step> steps);
}
