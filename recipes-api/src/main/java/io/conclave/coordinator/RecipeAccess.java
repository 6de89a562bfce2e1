package io.conclave.coordinator;

import io.conclave.recipe.RecipeSession;
import io.conclave.request.Request;
import java.util.concurrent.CompletionStage;

/** For authors of recipes: what of a coordinator an application does not see. */
public final class RecipeAccess {
    private RecipeAccess() {}

    /** The coordinator's present session as recipes see it. Never blocks. */
    public static RecipeSession session(Coordinator coordinator) {
        return ours(coordinator).recipeSession();
    }

    /**
     * Reads as {@link Coordinator#submit} does, linearizably if the coordinator is set to that, and again by the retry
     * policy; for recipes whose answer to the application must not stand behind other stages of it. Never blocks. The
     * stage completes on the session's dispatcher or a listener thread.
     *
     * @param <R> what the backend answers
     */
    public static <R> CompletionStage<R> read(Coordinator coordinator, Request<R> request) {
        return ours(coordinator).recipeRead(request);
    }

    private static ReconnectingCoordinator ours(Coordinator coordinator) {
        return coordinator.unwrap(ReconnectingCoordinator.class);
    }
}
