package io.conclave.coordinator;

import dev.failsafe.Failsafe;
import dev.failsafe.RetryPolicy;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.ConnectException;
import io.conclave.error.CredentialsRejectedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.recipe.RecipeContext;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Request;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import io.conclave.spi.Backend;
import io.conclave.spi.SerialExecutor;
import io.conclave.spi.SessionListener;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The coordinator: keeps one session, and opens a new one when it is lost.
 *
 * <p>{@code lock} guards the present session and the state; nothing blocks while it is held.
 */
final class ReconnectingCoordinator implements Coordinator {
    private static final Logger LOG = LoggerFactory.getLogger(ReconnectingCoordinator.class);
    private static final Duration REOPEN_PAUSE = Duration.ofSeconds(1);
    private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

    private final String connectString;
    private final Backend backend;
    private final RecipeContext context;
    private final RetryPolicy<Object> retryPolicy;
    private final ListenerThreads threads;
    private final ApplicationListeners listeners;
    /** Completes when a session has been connected and has found the namespace or made it. */
    private final CompletableFuture<Void> usable = new CompletableFuture<>();
    /** Completes when the session and the backend are closed. */
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    private final Object lock = new Object();
    private RecipeSession current; // guarded by lock
    private SessionState state = SessionState.CONNECTING; // guarded by lock

    ReconnectingCoordinator(
            String connectString,
            Backend backend,
            RecipeContext context,
            RetryPolicy<Object> retryPolicy,
            ListenerThreads threads) {
        this.connectString = connectString;
        this.backend = backend;
        this.context = context;
        this.retryPolicy = retryPolicy;
        this.threads = threads;
        this.listeners = new ApplicationListeners(context);
        this.current = new RecipeSession(context);
        open(current);
    }

    /** Waits for the first connection and for the namespace; closes the coordinator if it does not come. */
    void awaitFirstConnection(Duration timeout) {
        try {
            Waiting.await(recipeSession(), usable, timeout, () -> noConnection(timeout));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close();
            throw new ConnectException("Interrupted while connecting to " + connectString, e);
        } catch (ConclaveException e) {
            close();
            throw e instanceof ConnectException
                    ? e
                    : new ConnectException("Cannot use " + connectString + ": " + e.getMessage(), e);
        }
    }

    private ConnectException noConnection(Duration timeout) {
        String what = "No connection to " + connectString + " within " + Waiting.text(timeout);
        return recipeSession()
                .connectFailure()
                .map(cause -> new ConnectException(what + "; the last attempt failed: " + cause.getMessage(), cause))
                .orElseGet(() -> new ConnectException(what + ": no server has answered"));
    }

    private void open(RecipeSession session) {
        session.open(
                backend,
                new SessionListener() {
                    @Override
                    public void onState(SessionState next) {
                        onSessionState(session, next);
                    }

                    @Override
                    public void onRejected(CredentialsRejectedException rejection) {
                        onSessionRejected(session, rejection);
                    }
                },
                REOPEN_PAUSE);
    }

    /**
     * On the session's dispatcher. The next session tries again: the server's users may have been put right by then.
     */
    private void onSessionRejected(RecipeSession session, CredentialsRejectedException rejection) {
        synchronized (lock) {
            if (session != current || state == SessionState.CLOSED) {
                return;
            }
        }
        context.metrics().count("session.rejected", connectString);
        listeners.tellRejected(rejection);
        usable.completeExceptionally(rejection);
    }

    /** On the session's dispatcher. */
    private void onSessionState(RecipeSession session, SessionState next) {
        RecipeSession replacement = null;
        boolean isNews;
        synchronized (lock) {
            if (session != current || state == SessionState.CLOSED) {
                return;
            }
            boolean neverConnected = state == SessionState.CONNECTING && next == SessionState.LOST;
            SessionState seen = neverConnected ? state : next; // nothing is lost that has not been
            isNews = state != seen; // or LOST again: the next session could not be opened
            state = seen;
            if (next == SessionState.LOST) {
                replacement = new RecipeSession(context);
                current = replacement;
            }
        }
        LOG.info("{}: {}", session, next);
        if (isNews) {
            listeners.tell(next);
        }
        if (next == SessionState.CONNECTED) {
            Waiting.whenDone(session.namespaceMade(), usable::complete, this::onNoNamespace);
        }
        if (replacement != null) {
            if (isNews) {
                context.metrics().count("session.lost", connectString);
            }
            openReplacement(replacement);
        }
    }

    /** If the session was lost before its namespace was there, the next one makes it. */
    private void onNoNamespace(Throwable cause) {
        if (!(cause instanceof SessionGoneException)) {
            usable.completeExceptionally(cause);
        }
    }

    private void openReplacement(RecipeSession replacement) {
        open(replacement);
        synchronized (lock) {
            if (state != SessionState.CLOSED) {
                return;
            }
        }
        replacement.closeAsync(); // closed in between: nobody else knows of this session
    }

    @Override
    public SessionState state() {
        synchronized (lock) {
            return state;
        }
    }

    /** See {@link RecipeAccess#session}. */
    RecipeSession recipeSession() {
        synchronized (lock) {
            return current;
        }
    }

    @Override
    public Registration onStateChange(Consumer<SessionState> listener) {
        return listeners.onStateChange(listener);
    }

    @Override
    public Registration onRejection(Consumer<CredentialsRejectedException> listener) {
        return listeners.onRejection(listener);
    }

    @Override
    public <R> CompletableFuture<R> submit(Request<R> request) {
        return completedOn(listeners.completions(), submitWithRetries(request));
    }

    @Override
    public <R> R execute(Request<R> request) throws InterruptedException {
        return Waiting.await(recipeSession(), submitWithRetries(request));
    }

    /** See {@link RecipeAccess#read}. */
    <R> CompletionStage<R> recipeRead(Request<R> request) {
        if (!request.isRead()) {
            throw new IllegalArgumentException("Invalid request " + request.describe() + ": it must be a read");
        }
        return submitWithRetries(request);
    }

    private <R> CompletionStage<R> submitWithRetries(Request<R> request) {
        RecipeSession session = recipeSession();
        Request<R> queued = listeners.offDispatcher(session.forApplication(request));
        CompletionStage<R> first = session.submit(queued);
        if (!request.isRead()) {
            return first;
        }
        CompletableFuture<R> result = new CompletableFuture<>();
        first.whenComplete((answer, failure) -> {
            if (failure == null) {
                result.complete(answer);
            } else if (Waiting.cause(failure) instanceof OutcomeUnknownException) {
                Executor policy = new SerialExecutor("retries", context.listenerExecutor(), context.time());
                policy.execute(() -> retry(queued, first, result, policy));
            } else {
                result.completeExceptionally(Waiting.cause(failure));
            }
        });
        return result;
    }

    /**
     * Only a read that failed comes here; its first attempt counts as the policy's first.
     *
     * @param threads where the policy is asked and told, whose predicates and listeners are the application's
     */
    private <R> void retry(
            Request<R> request, CompletionStage<R> first, CompletableFuture<R> result, Executor threads) {
        AtomicReference<@Nullable CompletionStage<R>> attempted = new AtomicReference<>(first);
        CompletionStage<R> answered = Failsafe.with(retryPolicy)
                .with(new FailsafeTimers(context))
                .getStageAsync(() -> {
                    CompletionStage<R> attempt = attempted.getAndSet(null);
                    return attempt != null
                            ? attempt
                            : completedOn(threads, recipeSession().submit(request));
                });
        Waiting.forward(answered, result);
    }

    private static <R> CompletableFuture<R> completedOn(Executor threads, CompletionStage<R> attempt) {
        CompletableFuture<R> result = new CompletableFuture<>();
        attempt.whenComplete((answer, failure) -> threads.execute(() -> Waiting.forward(attempt, result)));
        return result;
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        if (!type.isInstance(this)) {
            throw new IllegalArgumentException("Invalid type " + type.getName() + ": " + this + " has no such type");
        }
        return type.cast(this);
    }

    @Override
    public void close() {
        closeSession((session, closed) -> {
            if (session.isDispatcherThread()) { // the backend's threads cannot wait for their own end
                closeBackendOnThreadOfItsOwn(session, closed);
            } else {
                closeBackend(session, closed);
            }
        });
        RecipeSession last = recipeSession();
        if (!last.isDispatcherThread()) {
            Waiting.awaitUninterruptibly(last, ended); // another call may have begun to close it
        }
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        closeSession(this::closeBackendOnThreadOfItsOwn);
        return recipeSession().onListenerThread("close of " + connectString, ended);
    }

    /** Does nothing if it is closed already. */
    private void closeSession(BiConsumer<RecipeSession, CompletionStage<Void>> then) {
        RecipeSession session;
        synchronized (lock) {
            if (state == SessionState.CLOSED) {
                return;
            }
            state = SessionState.CLOSED;
            session = current;
            session.becomeLast(); // under the lock: its loss is either replaced before that, or is none
        }
        usable.completeExceptionally(new ClosedException("The coordinator of " + connectString + " was closed"));
        then.accept(session, session.closeAsync());
    }

    /** If no thread can be started now, a later attempt does: other calls wait for the end. */
    private void closeBackendOnThreadOfItsOwn(RecipeSession session, CompletionStage<Void> closed) {
        Executor threadOfItsOwn = task -> {
            Thread end = new Thread(task, "conclave-close");
            end.setDaemon(true);
            end.start();
        };
        new SerialExecutor("close of " + connectString, threadOfItsOwn, context.time())
                .execute(() -> closeBackend(session, closed));
    }

    private void closeBackend(RecipeSession session, CompletionStage<Void> closed) {
        try {
            Waiting.awaitUninterruptibly(session, Waiting.atMost(context.time(), CLOSE_BOUND, closed));
            listeners.tell(SessionState.CLOSED);
            backend.close();
            threads.close();
        } finally {
            ended.complete(null);
        }
    }

    @Override
    public String toString() {
        return "Coordinator[" + connectString + ", " + state() + "]";
    }
}
