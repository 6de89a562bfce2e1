package io.conclave.connection;

import java.util.concurrent.CompletionStage;

/** Puts new semantics in force for an operator. From any thread, without blocking. */
@FunctionalInterface
public interface FeatureLevelService {
    /** The beginning of the sentence if the level was not raised. */
    String NOT_RAISED = "Not raised: ";

    /**
     * Raises the feature level to the highest one that all members support. Does not block; the stage completes on any
     * thread, with a sentence for the operator that says whether the level was raised, or why not.
     */
    CompletionStage<String> raise();
}
