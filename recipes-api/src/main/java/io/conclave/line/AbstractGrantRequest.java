package io.conclave.line;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Sender;
import io.conclave.recipe.Waiting;
import io.conclave.request.Request;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * A request for a grant that is tied to one session. What it sends goes over the session, and it ends when the session
 * does, or when one of its steps goes wrong: with a log line alone it would block others until the session ends.
 *
 * <p>All of it is for the session's dispatcher, except what {@link GrantRequest} has.
 */
public abstract class AbstractGrantRequest extends StagedRequest implements Sender {
    /** See {@link #session()}. */
    protected final RecipeSession session;

    private Registration sessionListener = () -> {};

    protected AbstractGrantRequest(RecipeSession session) {
        this.session = session;
    }

    /** Whether it was granted, and has not ended since. Any thread. */
    protected abstract boolean isHeld();

    /** What it does now, as in "the session was lost while holding ...". */
    protected abstract String describe();

    /** Ends the request, of which nothing is left at the backend. May be called again. */
    protected abstract void end(LossReason reason, ConclaveException why);

    /** Ends the request, and deletes what is left of it at the backend. May be called again. */
    protected abstract void depart(ConclaveException why, LossReason reason);

    /** From now on the request ends with the session; one that has ended already is not told of. */
    protected final void tie() {
        sessionListener = session.onStateChange(this::sessionIs);
    }

    /** The session's state, whether it was told or asked for. */
    protected final void sessionIs(SessionState state) {
        if (!state.isLive()) {
            fail(Failures.sessionEnded(state, describe()));
        }
    }

    /**
     * Whether the session's time is over. The backend ends a session before it closes the connection, and may report
     * its znodes as deleted in between.
     */
    protected final boolean sessionMayHaveEnded() {
        return session.remaining().isZero();
    }

    /** Sends a request to the backend; if one of the callbacks throws, this request fails. */
    @Override
    public final <R> void send(
            Request<R> request, Consumer<? super R> onAnswer, Consumer<? super Throwable> onFailure) {
        session.send(
                request,
                answer -> guarded(() -> onAnswer.accept(answer)),
                cause -> guarded(() -> onFailure.accept(cause)));
    }

    /** Takes a step; if it throws, the request fails. */
    public final void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            LoggerFactory.getLogger(getClass()).error("{}: unexpected failure", this, e);
            fail(e);
        }
    }

    /** Something that the request cannot mend. */
    public final void fail(Throwable cause) {
        if (cause instanceof ClosedException closed) {
            end(LossReason.COORDINATOR_CLOSED, closed);
        } else if (cause instanceof SessionGoneException gone) {
            end(LossReason.SESSION_LOST, gone);
        } else {
            depart(known(cause), LossReason.REFUSED);
        }
    }

    /** The failure as one that an application knows. */
    final ConclaveException known(Throwable cause) {
        return cause instanceof ConclaveException known
                ? known
                : new OutcomeUnknownException("Unexpected failure while " + describe(), cause);
    }

    /** It is granted. */
    protected final void tellGranted() {
        LoggerFactory.getLogger(getClass()).debug("{}: granted", this);
        granted.complete(null);
    }

    // So far the way to the grant. From here on the end of it, and what others may ask.

    /** Goes on when a stage is done; if one of the callbacks throws, this request fails. */
    protected final <R> void whenDone(
            CompletionStage<R> stage, Consumer<? super R> onResult, Consumer<? super Throwable> onFailure) {
        Waiting.whenDone(
                stage,
                result -> guarded(() -> onResult.accept(result)),
                cause -> guarded(() -> onFailure.accept(cause)));
    }

    /** The request does not listen to the session any more. */
    protected final void stopListening() {
        sessionListener.close();
    }

    /** It is not granted, nor will be. */
    protected final void tellFailed(ConclaveException why) {
        granted.completeExceptionally(why);
    }

    /**
     * What was granted is not held any more; a warning says so in the log, unless the application has ended it itself.
     *
     * @param what was lost, as in "Lost the grant of /locks/orders: another client deleted its znode"
     */
    protected final void tellLost(String what, LossReason reason) {
        GrantLoss.log(getClass(), session, what, reason);
        lost.complete(reason);
    }

    /** The word that asks to give up stands in its znode. */
    protected final void tellAskedToGiveUp() {
        if (revocation.complete(null)) {
            LoggerFactory.getLogger(getClass()).debug("{}: asked to give up", this);
        }
    }

    /** Whether somebody has asked for it. */
    protected final boolean isAskedToGiveUp() {
        return revocation.isDone();
    }

    @Override
    public final RecipeSession session() {
        return session;
    }

    @Override
    public final Duration remaining() {
        return isHeld() ? session.remaining() : Duration.ZERO;
    }

    @Override
    public final CompletionStage<Void> leave(ConclaveException why) {
        session.execute(() -> depart(why, LossReason.RELEASED));
        return gone;
    }

    @Override
    public final void giveUpWaiting(ConclaveException why) {
        session.execute(() -> {
            if (!isHeld()) {
                depart(why, LossReason.RELEASED);
            }
        });
    }
}
