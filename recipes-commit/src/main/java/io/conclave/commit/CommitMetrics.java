package io.conclave.commit;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.recipe.RecipeSession;

/** What the parts of a transaction count alike. */
final class CommitMetrics {
    private CommitMetrics() {}

    /** A reply was lost, if that is why it failed, and the request is sent again. */
    static void failed(RecipeSession session, TransactionLayout layout, Throwable cause) {
        if (cause instanceof OutcomeUnknownException) {
            session.metrics().count("commit.retry", layout.path().toString());
        }
    }
}
