package io.conclave.line;

import io.conclave.error.ClosedException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.grant.Grant;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A grant, as the application has it; the recipes' grants extend it.
 *
 * @param <T> the kind of request
 */
public abstract class AbstractGrant<T extends GrantRequest> implements Grant {
    private final T request;
    /** A downgrade is under way, and its outcome is not known yet. */
    private final AtomicBoolean givingUp = new AtomicBoolean();

    /** Its owner has given it back; the dispatcher may not know it yet. */
    private volatile boolean released;

    /** Wraps a request that has been granted. */
    protected AbstractGrant(T request) {
        this.request = request;
    }

    /** The grant as recipes see it, which must be one of this library's. */
    static AbstractGrant<?> of(Grant grant) {
        if (grant instanceof AbstractGrant<?> own) {
            return own;
        }
        throw new IllegalArgumentException("Invalid grant " + grant + ": it must be one that Conclave has given");
    }

    @Override
    public final Duration remaining() {
        return released || givingUp.get() ? Duration.ZERO : request.remaining();
    }

    @Override
    public final boolean deadlineIsStrict() {
        return request.deadlineIsStrict();
    }

    @Override
    public final void ensureHeld() {
        if (!isHeld()) {
            throw lostException();
        }
    }

    /**
     * Calls back when this is lost other than by being released, on a listener thread that no other continuation holds
     * up.
     */
    final void onLoss(Runnable callback) {
        request.watchForLoss();
        request.lost().thenAccept(reason -> {
            if (reason != LossReason.RELEASED) {
                request.session().listenerThreads("loss of " + this).execute(callback);
            }
        });
    }

    /** Says that this is lost, unless it is held or was given back by its owner. */
    final Optional<GrantLostException> loss() {
        @Nullable LossReason reason = request.lost().toCompletableFuture().getNow(null);
        boolean isLost = reason == null ? !released && !givingUp.get() && !isHeld() : reason != LossReason.RELEASED;
        return isLost ? Optional.of(lostException()) : Optional.empty();
    }

    /**
     * Whether this was given back because that work, or work within it, has asked for it; false if nobody keeps that.
     * Any thread.
     */
    protected boolean isReleasedBy(LossInterrupt work) {
        return false;
    }

    final RecipeSession session() {
        return request.session();
    }

    /** Says that this is not held any more, and why. */
    final GrantLostException lostException() {
        @Nullable LossReason reason = request.lossReason().orElse(null);
        if (reason != null) {
            return lostException(reason, reason.toString());
        }
        if (givingUp.get()) {
            return lostException(LossReason.RELEASED, "it is being given up for another");
        }
        return released
                ? lostException(LossReason.RELEASED, LossReason.RELEASED.toString())
                : lostException(
                        LossReason.SESSION_LOST,
                        "its session's deadline has passed, and another process may hold it by now");
    }

    private GrantLostException lostException(LossReason reason, String why) {
        return new GrantLostException(reason, request.what(), request.what() + " is no longer held: " + why);
    }

    @Override
    public final CompletableFuture<LossReason> lost() {
        request.watchForLoss();
        return onListenerThread("lost()", request.lost());
    }

    private <S> CompletableFuture<S> onListenerThread(String stage, CompletionStage<S> told) {
        CompletableFuture<S> present = told.toCompletableFuture();
        return present.isDone() ? present.copy() : request.session().onListenerThread(stage + " of " + this, present);
    }

    /**
     * Completes when somebody asks for what is held to be given back ({@link Revocation}); at once if that was while it
     * was waited for. Not at all if nobody asks, never exceptionally. Its continuations run on the coordinator's
     * listener threads and may block. Each call gives a future of its own, which is kept until the grant has ended.
     */
    public CompletableFuture<Void> revocationRequested() {
        request.watchForLoss();
        return onListenerThread("revocationRequested()", request.revocationRequested());
    }

    /** Whether its owner has given it back, or means to: the call may not have taken effect yet. */
    protected final boolean isReleased() {
        return released;
    }

    /** From here to {@link #endGivingUp} it counts as not held; whether nobody was quicker. */
    final boolean beginGivingUp() {
        return givingUp.compareAndSet(false, true);
    }

    final void endGivingUp() {
        givingUp.set(false);
    }

    @Override
    public final void close() {
        CompletionStage<Void> gone = giveBack();
        Waiting.awaitGone(request.session(), gone);
    }

    @Override
    public final CompletableFuture<Void> closeAsync() {
        return request.session().onListenerThread("closeAsync() of " + this, giveBack());
    }

    private CompletionStage<Void> giveBack() {
        released = true;
        return request.leave(new ClosedException("Released"));
    }

    /** The request behind the grant, for the recipe. */
    protected final T request() {
        return request;
    }
}
