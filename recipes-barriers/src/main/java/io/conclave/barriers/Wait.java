package io.conclave.barriers;

import io.conclave.error.ConclaveException;
import io.conclave.error.LossReason;
import io.conclave.line.Acquisition;
import io.conclave.line.GrantProgress;
import io.conclave.line.StagedRequest;
import io.conclave.recipe.Failures;
import io.conclave.recipe.Waiting;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A wait for something that cannot be held: only its happening is waited for. So {@link Acquisition} gives it its
 * timeouts, its cancellation and its blocking form, as it does for locks.
 *
 * <p>State belongs to the session's dispatcher.
 */
abstract class Wait extends StagedRequest {
    private Optional<GrantProgress> progress = Optional.empty(); // once it has begun

    /** Begins to wait. Never blocks; any thread. */
    abstract void begin();

    /** It begins. On the thread of the application's call. */
    final void begins(String name, String subject) {
        GrantProgress beginning = new GrantProgress(session().metrics(), subject);
        beginning.waits(name);
        progress = Optional.of(beginning);
    }

    /** It has not happened yet: others have to act. */
    final void notYet() {
        mustWait.complete(null);
    }

    /** What was waited for has happened. */
    final void happened() {
        gone.complete(null);
        progress.ifPresent(GrantProgress::happened);
        granted.complete(null);
    }

    /** It is not waited for any more. */
    final void failed(Throwable why) {
        failed(why, LossReason.RELEASED);
    }

    /**
     * Its session has ended, and there is no next one for it.
     *
     * @param how lost, or closed with its coordinator
     */
    final void sessionEnded(SessionState how, String doing) {
        failed(
                Failures.sessionEnded(how, doing),
                how == SessionState.CLOSED ? LossReason.COORDINATOR_CLOSED : LossReason.RELEASED);
    }

    private void failed(Throwable why, LossReason reason) {
        progress.ifPresent(waiting -> waiting.notGranted(why, reason));
        granted.completeExceptionally(why);
    }

    /** Nothing of the wait is left at the backend, no watch and no znode. */
    final void nothingLeft() {
        gone.complete(null);
    }

    final boolean isOver() {
        return granted.isDone();
    }

    /**
     * Stops waiting, for this reason, and calls {@link #nothingLeft} when it is so. On any thread; it may be over
     * already.
     */
    abstract void stop(ConclaveException why);

    @Override
    public final CompletionStage<Void> leave(ConclaveException why) {
        stop(why);
        return gone;
    }

    @Override
    public final void giveUpWaiting(ConclaveException why) {
        stop(why);
    }

    /** Waits without a limit of time. */
    final void await() throws InterruptedException {
        begun().await();
    }

    /** Waits until the timeout. */
    final void await(Duration timeout) throws InterruptedException {
        begun(timeout).await();
    }

    /** The asynchronous form; cancelling it stops the wait. */
    final CompletableFuture<Void> stage() {
        return begun().stage(nothing -> {});
    }

    /** The asynchronous form with a limit of time. */
    final CompletableFuture<Void> stage(Duration timeout) {
        return begun(timeout).stage(nothing -> {});
    }

    private Acquisition<Void> begun() {
        begin();
        return Acquisition.of(this, () -> null);
    }

    private Acquisition<Void> begun(Duration timeout) {
        Waiting.checkedTimeout(timeout);
        begin();
        return Acquisition.of(this, () -> null, timeout);
    }
}
