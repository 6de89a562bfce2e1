package io.conclave.connection;

import java.util.concurrent.CompletionStage;

/** Puts new semantics in force for an operator. From any thread, without blocking. */
@FunctionalInterface
public interface FeatureLevelService {
    /** What the answer begins with if nothing was raised. */
    String NOT_RAISED = "Not raised: ";

    /** Raises the level to what all members understand; completes, on any thread, with what came of it in words. */
    CompletionStage<String> raise();
}
