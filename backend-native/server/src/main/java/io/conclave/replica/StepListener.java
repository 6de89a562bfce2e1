package io.conclave.replica;

import java.util.List;

/** Told of what was applied. */
@FunctionalInterface
public interface StepListener {

    /**
     * A batch was applied; called on the log's thread, in log order. Must not block and must not throw.
     *
     * @param steps the batch's entries in order, never empty
     */
    void applied(List<Step> steps);
}
