package io.conclave.recipe;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.request.RemoveWatch;
import io.conclave.request.Request;
import io.conclave.spi.BackendSession;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the coordinator's namespace on a session, and holds the session's requests back until it is there.
 *
 * <p>The requests cannot wait in the session's own queue, behind the creation of the namespace: if the connection goes
 * before the creation takes effect, they are executed on the next connection, and the creation is not. So they are
 * handed on in their order once the server has said that the namespace is there. The sessions that follow need not ask
 * again.
 *
 * <p>If the namespace is refused, the requests that wait are refused for the same reason, and the next request has it
 * tried again. If the session ends, they end with it.
 *
 * <p>{@code lock} guards what waits; nothing blocks while it is held.
 */
final class NamespaceGate {
    private static final Logger LOG = LoggerFactory.getLogger(NamespaceGate.class);

    private final NodePath base;
    private final RecipeSession withoutNamespace;
    private final RecipeContext context;
    private final CompletableFuture<Void> firstAttempt = new CompletableFuture<>();
    private final Object lock = new Object();
    private final Queue<Held<?>> held = new ArrayDeque<>(); // guarded by lock
    private boolean isMaking; // guarded by lock
    private volatile boolean isOpen; // written under lock: once set, nothing is held any more

    /** A request, with the path that the backend sees, and what its submitter was given. */
    private record Held<R>(Request<R> request, CompletableFuture<R> answer) {
        void handTo(BackendSession session) {
            try {
                Waiting.forward(session.submit(request), answer);
            } catch (RuntimeException | Error e) {
                answer.completeExceptionally(e); // as its submitter would have seen it
            }
        }
    }

    NamespaceGate(NodePath base, RecipeSession withoutNamespace, RecipeContext context) {
        this.base = base;
        this.withoutNamespace = withoutNamespace;
        this.context = context;
        if (base.isRoot() || context.namespaceExists().get()) {
            isOpen = true;
            firstAttempt.complete(null);
        }
    }

    /**
     * Completes on the dispatcher when the namespace is there, or has been refused once, or the session has ended
     * before.
     */
    CompletionStage<Void> firstAttempt() {
        return firstAttempt;
    }

    /** Whether the namespace is there, or the session is over. Any thread. */
    boolean isOpen() {
        return isOpen;
    }

    /** The session has been opened: its first requests make the namespace. */
    void makeNamespace() {
        synchronized (lock) {
            if (isOpen || isMaking) {
                return;
            }
            isMaking = true;
        }
        withoutNamespace.execute(() -> Waiting.whenDone(
                ParentMaker.makePersistent(withoutNamespace, base), made -> onMade(), this::onFailure));
    }

    private void onMade() {
        context.namespaceExists().set(true);
        open();
        firstAttempt.complete(null);
    }

    /** Submits a request, with the path that the backend sees, once the namespace is there. Never blocks. */
    <R> CompletionStage<R> submit(BackendSession session, Request<R> request) {
        if (isOpen) {
            return session.submit(request);
        }
        CompletableFuture<R> answer = new CompletableFuture<>();
        boolean isHeld;
        synchronized (lock) {
            isHeld = !isOpen && (held.size() < context.maxQueuedRequests() || request instanceof RemoveWatch);
            if (isHeld) {
                held.add(new Held<>(request, answer));
            }
        }
        if (isHeld) {
            makeNamespace();
            return answer;
        }
        if (isOpen) {
            return session.submit(request);
        }
        session.dispatcher().execute(() -> answer.completeExceptionally(tooMany(request)));
        return answer;
    }

    private RefusedException tooMany(Request<?> request) {
        return new RefusedException(
                RefusalReason.LIMIT_EXCEEDED,
                request.describe() + ": " + context.maxQueuedRequests()
                        + " requests are already waiting for the namespace " + base);
    }

    private void open() {
        BackendSession session = withoutNamespace.session();
        synchronized (lock) {
            for (Held<?> next = held.poll(); next != null; next = held.poll()) {
                next.handTo(session); // if that fails at once, what follows may add another one behind them
            }
            isMaking = false;
            isOpen = true;
        }
    }

    private void onFailure(Throwable cause) {
        if (Failures.isSessionOver(cause)) {
            open(); // the session says to each of them how it ended
        } else {
            LOG.warn("{}: the namespace {} could not be made: {}", withoutNamespace, base, cause.getMessage());
            refuse(cause);
        }
        firstAttempt.completeExceptionally(cause);
    }

    private void refuse(Throwable cause) {
        Queue<Held<?>> refused;
        synchronized (lock) {
            isMaking = false;
            refused = new ArrayDeque<>(held);
            held.clear();
        }
        refused.forEach(request -> request.answer().completeExceptionally(refusal(request.request(), cause)));
    }

    private Throwable refusal(Request<?> request, Throwable cause) {
        if (!(cause instanceof RefusedException refused)) {
            return cause;
        }
        RefusedException refusal = new RefusedException(
                refused.reason(),
                request.describe() + ": the namespace " + base + " could not be made: " + refused.getMessage());
        refusal.initCause(refused);
        return refusal;
    }
}
