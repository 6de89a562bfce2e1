package io.conclave.recipe;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.SessionGoneException;
import io.conclave.request.Request;
import io.conclave.session.SessionState;
import io.conclave.spi.BackendSession;
import io.conclave.spi.SerialExecutor;
import io.conclave.spi.SessionListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * Stands for a session that the backend failed to open: CONNECTING until the coordinator tries again with another one,
 * then LOST. Requests wait meanwhile, as with any session that is not connected yet.
 *
 * <p>{@code lock} guards the state and what waits; nothing blocks while it is held.
 */
final class UnopenedSession implements BackendSession {
    private final SessionListener listener;
    private final SerialExecutor dispatcher;
    private final Throwable cause;
    private final Object lock = new Object();
    private SessionState state = SessionState.CONNECTING; // guarded by lock
    private List<CompletableFuture<?>> waiting = new ArrayList<>(); // guarded by lock

    UnopenedSession(SessionListener listener, RecipeContext context, Throwable cause) {
        this.listener = listener;
        this.dispatcher = new SerialExecutor("unopened session", context.listenerExecutor(), context.time());
        this.cause = cause;
    }

    /** It is given up: another one is tried. */
    void lose() {
        end(SessionState.LOST);
    }

    private void end(SessionState last) {
        List<CompletableFuture<?>> over;
        synchronized (lock) {
            if (state != SessionState.CONNECTING) {
                return;
            }
            state = last;
            over = waiting;
            waiting = List.of();
        }
        dispatcher.execute(() -> {
            over.forEach(request -> request.completeExceptionally(failure(last)));
            listener.onState(last);
        });
    }

    private ConclaveException failure(SessionState last) {
        return last == SessionState.CLOSED
                ? new ClosedException("The session was closed before it could be opened")
                : new SessionGoneException("The session could not be opened: " + cause);
    }

    @Override
    public long id() {
        return 0;
    }

    @Override
    public SessionState state() {
        synchronized (lock) {
            return state;
        }
    }

    @Override
    public <R> CompletionStage<R> submit(Request<R> request) {
        CompletableFuture<R> result = new CompletableFuture<>();
        SessionState now;
        synchronized (lock) {
            now = state;
            if (now == SessionState.CONNECTING) {
                waiting.add(result);
            }
        }
        if (now != SessionState.CONNECTING) {
            dispatcher.execute(() -> result.completeExceptionally(failure(now)));
        }
        return result;
    }

    @Override
    public Executor dispatcher() {
        return dispatcher;
    }

    @Override
    public long connectionNumber() {
        return 0;
    }

    @Override
    public Duration remaining() {
        return Duration.ZERO;
    }

    @Override
    public boolean deadlineIsStrict() {
        return true;
    }

    @Override
    public OptionalLong generation() {
        return OptionalLong.empty();
    }

    @Override
    public Optional<Throwable> connectFailure() {
        return Optional.of(cause);
    }

    @Override
    public CompletionStage<Void> closeAsync() {
        end(SessionState.CLOSED);
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public String toString() {
        return "session that could not be opened";
    }
}
