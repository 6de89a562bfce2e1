package io.conclave.recovery;

import dev.failsafe.Execution;
import dev.failsafe.RetryPolicy;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Delete;
import java.time.Duration;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one answer of all recipes to a request that failed:
 *
 * <ol>
 *   <li>The reply was lost: again at once. It waits for a connection in the session's queue.
 *   <li>It was refused for a reason that may pass: again after a delay.
 *   <li>The session is gone or closed: nothing; its state tells what follows.
 *   <li>Anything else: the recipe decides.
 * </ol>
 *
 * <p>Here is the delay after a refusal. It has no limit of attempts: a deletion that gives up would leave a znode that
 * blocks others. All of it is for the session's dispatcher.
 */
public final class Retry {
    private static final Logger LOG = LoggerFactory.getLogger(Retry.class);

    /** Some jitter, because a server that refuses refuses all of its clients at the same moment. */
    private static final RetryPolicy<Object> POLICY = RetryPolicy.builder()
            .withDelay(Duration.ofMillis(500))
            .withJitter(0.2)
            .withMaxRetries(-1)
            .build();

    private Retry() {}

    /** How long to wait before something that failed is tried again. */
    public static Duration delay(Throwable cause) {
        Execution<Object> attempt = Execution.of(POLICY);
        attempt.recordException(cause);
        return attempt.getDelay();
    }

    /** Tries again after the delay, on the dispatcher. */
    public static void later(RecipeSession session, Throwable cause, Runnable again) {
        session.time().schedule(delay(cause), () -> session.execute(again));
    }

    /**
     * Tries again at once if the reply was lost, later if the refusal may pass.
     *
     * @param whose names in the log what is tried
     * @param otherwise is given every other failure
     */
    public static void ifItMayPass(
            RecipeSession session,
            Object whose,
            Throwable cause,
            Runnable again,
            Consumer<? super Throwable> otherwise) {
        if (cause instanceof OutcomeUnknownException || Failures.mayPass(cause)) {
            tryAgain(session, whose, cause, again);
        } else {
            otherwise.accept(cause);
        }
    }

    /**
     * As {@link #ifItMayPass}, of a look for what became of a request whose reply was lost.
     *
     * @param unknown of that request
     * @param otherwise is given every other failure, as one of the request: see {@link Failures#inDoubt}
     */
    public static void lookAgain(
            RecipeSession session,
            Object whose,
            OutcomeUnknownException unknown,
            Throwable cause,
            Runnable look,
            Consumer<? super Throwable> otherwise) {
        ifItMayPass(session, whose, cause, look, other -> otherwise.accept(Failures.inDoubt(unknown, other)));
    }

    /**
     * Tries again whatever the failure was, unless the session is over: at once if the reply was lost, else later.
     *
     * @param whose names in the log what is tried
     */
    public static void always(RecipeSession session, Object whose, Throwable cause, Runnable again) {
        if (!Failures.isSessionOver(cause)) {
            tryAgain(session, whose, cause, again);
        }
    }

    private static void tryAgain(RecipeSession session, Object whose, Throwable cause, Runnable again) {
        if (cause instanceof OutcomeUnknownException) {
            again.run();
        } else {
            LOG.warn("{}: trying again: {}", whose, cause.getMessage());
            later(session, cause, again);
        }
    }

    /**
     * What follows a deletion that failed, until the znode is gone or its session is.
     *
     * @param what is to be deleted, for the log
     * @param gone called when nothing is left, or when it cannot be deleted before the session ends
     */
    public static void untilGone(RecipeSession session, Object what, Throwable cause, Runnable again, Runnable gone) {
        if (Failures.isNoNode(cause) || Failures.isSessionOver(cause)) {
            gone.run();
            return;
        }
        ifItMayPass(session, what, cause, again, refusal -> {
            LOG.error("Cannot delete {}; it stays until the session ends", what, refusal);
            gone.run();
        });
    }

    /**
     * Deletes an ephemeral znode of this session whose name nobody else uses, and does not give up before it is gone or
     * the session is.
     *
     * @param gone see {@link #untilGone}
     */
    public static void deleteUntilGone(RecipeSession session, NodePath path, Runnable gone) {
        session.send(
                Delete.of(path),
                deleted -> gone.run(),
                cause -> untilGone(session, path, cause, () -> deleteUntilGone(session, path, gone), gone));
    }
}
