package io.conclave.line;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Waiting;
import io.conclave.error.ClosedException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.grant.Tenure;
import io.conclave.spi.SerialExecutor;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What a tenant was granted, as the application has it; the recipes' grants extend it.
 *
 * @param <T> the kind of tenant
 */
public abstract class HeldTenure<T extends Tenant> implements Tenure {
    private final T tenant;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final CompletableFuture<Void> revocation = new CompletableFuture<>();
    private final AtomicBoolean givingUp =
            new AtomicBoolean(); // for another: what the backend has done of it is not known yet
    private volatile boolean released; // before the dispatcher hears of it: whoever asks after a release is told so

    /** Wraps a tenant whose application has been granted. */
    protected HeldTenure(T tenant) {
        this.tenant = tenant;
        RecipeSession session = tenant.session();
        tenant.lost().thenAccept(reason -> listeners(session, "lost()").execute(() -> lost.complete(reason)));
        tenant.revocationRequested()
                .thenRun(() -> listeners(session, "revocationRequested()").execute(() -> revocation.complete(null)));
    }

    /** Each stage has a queue of its own, so that one that blocks does not hold up the other. */
    private SerialExecutor listeners(RecipeSession session, String stage) {
        return new SerialExecutor(stage + " of " + this, session.listenerExecutor(), session.time());
    }

    @Override
    public final Duration remaining() {
        return released || givingUp.get() ? Duration.ZERO : tenant.remaining();
    }

    @Override
    public final boolean deadlineIsStrict() {
        return tenant.deadlineIsStrict();
    }

    @Override
    public final void ensureHeld() {
        if (!isHeld()) {
            throw lostException();
        }
    }

    /** Calls back when this is lost other than by being released, on a listener thread that no other continuation holds up. */
    final void onLoss(Runnable callback) {
        tenant.lost().thenAccept(reason -> {
            if (reason != LossReason.RELEASED) {
                listeners(tenant.session(), "loss").execute(callback);
            }
        });
    }

    /** Says that this is lost, unless it is held or was given back by its owner. */
    final Optional<GrantLostException> loss() {
        @Nullable LossReason reason = tenant.lost().toCompletableFuture().getNow(null);
        boolean isLost = reason == null ? !released && !givingUp.get() && !isHeld() : reason != LossReason.RELEASED;
        return isLost ? Optional.of(lostException()) : Optional.empty();
    }

    final RecipeSession session() {
        return tenant.session();
    }

    /** Says that this is not held any more, and why. */
    final GrantLostException lostException() {
        @Nullable LossReason reason = tenant.lossReason().orElse(null);
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
        return new GrantLostException(reason, tenant.what(), tenant.what() + " is no longer held: " + why);
    }

    @Override
    public final CompletionStage<LossReason> lost() {
        return lost.copy();
    }

    /**
     * Completes when somebody asks for what is held to be given back ({@link Revocation}); at once if he did while it was waited for. Not at all if nobody asks, never
     * exceptionally. Its continuations run on the coordinator's listener threads and may block.
     */
    public CompletionStage<Void> revocationRequested() {
        return revocation.copy();
    }

    /** Whether its owner has given it back, or means to: his call may not have taken effect yet. */
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
        RecipeSession session = tenant.session();
        if (session.isDispatcherThread()) {
            return; // it would wait for itself; the deletion goes on
        }
        Duration remaining = session.remaining();
        Duration bound = remaining.compareTo(session.sessionTimeout()) < 0 ? remaining : session.sessionTimeout();
        Waiting.awaitUninterruptibly(session, Waiting.atMost(session.time(), bound, gone));
    }

    @Override
    public final CompletionStage<Void> closeAsync() {
        CompletableFuture<Void> closed = new CompletableFuture<>();
        SerialExecutor listeners = listeners(tenant.session(), "closeAsync()");
        giveBack().thenRun(() -> listeners.execute(() -> closed.complete(null)));
        return closed;
    }

    private CompletionStage<Void> giveBack() {
        released = true;
        return tenant.leave(new ClosedException("Released"));
    }

    /** The tenant behind the grant, for the recipe. */
    protected final T tenant() {
        return tenant;
    }
}
