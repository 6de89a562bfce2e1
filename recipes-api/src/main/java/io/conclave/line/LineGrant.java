package io.conclave.line;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Waiting;
import io.conclave.error.ClosedException;
import io.conclave.error.GrantLostException;
import io.conclave.grant.FencingToken;
import io.conclave.grant.Grant;
import io.conclave.grant.LossReason;
import io.conclave.spi.SerialExecutor;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The grant of the head of a line; the recipes' grants extend it. */
public class LineGrant implements Grant {
    private final Contender contender;
    private final FencingToken token;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private volatile boolean released; // before the dispatcher hears of it: whoever asks after a release is told so

    /** Wraps a contender that has been granted. */
    protected LineGrant(Contender contender) {
        this.contender = contender;
        this.token = contender.token();
        RecipeSession session = contender.session();
        contender.lost().thenAccept(reason -> new SerialExecutor(
                        "lost() of " + this, session.listenerExecutor(), session.time())
                .execute(() -> lost.complete(reason)));
    }

    @Override
    public final FencingToken token() {
        return token;
    }

    @Override
    public final Duration remaining() {
        return released ? Duration.ZERO : contender.remaining();
    }

    @Override
    public final boolean deadlineIsStrict() {
        return contender.deadlineIsStrict();
    }

    @Override
    public final void ensureHeld() {
        if (!isHeld()) {
            throw new GrantLostException(this + " is no longer held: " + reasonOfLoss());
        }
    }

    private String reasonOfLoss() {
        @Nullable LossReason reason = contender.lost().toCompletableFuture().getNow(null);
        if (reason != null) {
            return reason.toString();
        }
        return released ? LossReason.RELEASED.toString() : "its session's deadline has passed";
    }

    @Override
    public final CompletionStage<LossReason> lost() {
        return lost.copy();
    }

    @Override
    public final void close() {
        CompletionStage<Void> gone = closeAsync();
        RecipeSession session = contender.session();
        if (session.isDispatcherThread()) {
            return; // it would wait for itself; the deletion goes on
        }
        Duration remaining = session.remaining();
        Duration bound = remaining.compareTo(session.sessionTimeout()) < 0 ? remaining : session.sessionTimeout();
        Waiting.awaitUninterruptibly(session, Waiting.atMost(session.time(), bound, gone));
    }

    @Override
    public final CompletionStage<Void> closeAsync() {
        released = true;
        return contender.leave(new ClosedException("Released"));
    }

    /** The contender behind the grant, for the recipe. */
    protected final Contender contender() {
        return contender;
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + "["
                + contender.path().map(Object::toString).orElse("?") + ", token " + token + "]";
    }
}
