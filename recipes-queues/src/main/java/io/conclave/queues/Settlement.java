package io.conclave.queues;

import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.Retry;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Performs a transaction that deletes a claim of ours among other things, and does not give up before the outcome is
 * known. After a lost reply the claim tells: while it is there the transaction had no effect, and is sent again.
 *
 * <p>State belongs to the session's dispatcher.
 */
final class Settlement {
    private final RecipeSession session;
    private final NodePath claim;
    private final Multi multi;
    private final CompletableFuture<Result> result = new CompletableFuture<>();

    /**
     * The outcome.
     *
     * @param kind in short
     * @param refusal if it was refused, why
     */
    record Result(Kind kind, Optional<RefusedException> refusal) {
        static final Result DONE = new Result(Kind.DONE, Optional.empty());
    }

    /** The outcome, in short. */
    enum Kind {
        /** It took effect. */
        DONE,
        /** It had no effect. */
        REFUSED,
        /** Its reply was lost, and the claim is gone: it took effect, or the claim was deleted. */
        CLAIM_GONE
    }

    private Settlement(RecipeSession session, NodePath claim, Multi multi) {
        this.session = session;
        this.claim = claim;
        this.multi = multi;
    }

    /**
     * Completes on the dispatcher, where it is to be called; exceptionally if the session is gone or the coordinator
     * closed: with {@link ClosedException} if the transaction had no effect, and with {@link OutcomeUnknownException}
     * if it could not be found out: the coordinator was closed before that, or the claim may not be read.
     */
    static CompletionStage<Result> of(RecipeSession session, NodePath claim, Multi multi) {
        Settlement settlement = new Settlement(session, claim, multi);
        settlement.send();
        return settlement.result;
    }

    /**
     * As {@link #of}, when the transaction has been sent already, alone or as a part of a larger one, and has failed.
     */
    static CompletionStage<Result> after(RecipeSession session, NodePath claim, Multi multi, Throwable failure) {
        Settlement settlement = new Settlement(session, claim, multi);
        settlement.onFailure(failure);
        return settlement.result;
    }

    private void send() {
        session.send(multi, results -> result.complete(Result.DONE), this::onFailure);
    }

    private void onFailure(Throwable cause) {
        if (cause instanceof OutcomeUnknownException unknown) {
            findOut(unknown);
        } else if (Failures.mayPass(cause)) {
            Retry.later(session, cause, this::send);
        } else if (cause instanceof RefusedException refused) {
            result.complete(new Result(Kind.REFUSED, Optional.of(refused)));
        } else {
            result.completeExceptionally(cause);
        }
    }

    private void findOut(OutcomeUnknownException unknown) {
        session.readLatest(
                claim,
                GetData.of(claim),
                node -> {
                    if (node.stat().ephemeralOwner() == session.id()) {
                        send();
                    } else {
                        claimGone();
                    }
                },
                cause -> onNotFound(cause, unknown));
    }

    private void onNotFound(Throwable cause, OutcomeUnknownException unknown) {
        if (Failures.isNoNode(cause)) {
            claimGone();
        } else {
            Retry.lookAgain(session, claim, unknown, cause, () -> findOut(unknown), result::completeExceptionally);
        }
    }

    private void claimGone() {
        result.complete(new Result(Kind.CLAIM_GONE, Optional.empty()));
    }
}
