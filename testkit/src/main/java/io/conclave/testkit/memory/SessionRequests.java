package io.conclave.testkit.memory;

import io.conclave.error.ConclaveException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.request.Request;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * The requests of one session that have no answer yet, each of which ends exactly once, on the dispatcher.
 *
 * <p>Guarded by the store's lock, but for the count, which the dispatcher lowers.
 */
final class SessionRequests {
    private final Executor dispatcher;
    private final AtomicInteger outstanding = new AtomicInteger();
    /** Not sent yet. */
    private final Queue<PendingRequest<?>> unsent = new ArrayDeque<>();
    /** Sent, and the answer has not come through. */
    private final Deque<PendingRequest<?>> inFlight = new ArrayDeque<>();

    SessionRequests(Executor dispatcher) {
        this.dispatcher = dispatcher;
    }

    /** One more request; how many are outstanding with it. */
    int submitted() {
        return outstanding.incrementAndGet();
    }

    /** The request waits for its turn to be sent. */
    void enqueue(PendingRequest<?> pending) {
        unsent.add(pending);
    }

    boolean hasUnsent() {
        return !unsent.isEmpty();
    }

    /** The next request to be sent, which is in flight now. */
    PendingRequest<?> nextToSend() {
        PendingRequest<?> pending = unsent.remove();
        inFlight.add(pending);
        return pending;
    }

    /** The answer has come through; it is up to the caller to complete or fail the request. */
    void answered(PendingRequest<?> pending) {
        inFlight.remove(pending);
    }

    @SuppressWarnings("unchecked")
    <R> void complete(PendingRequest<R> pending, Object answer) {
        dispatcher.execute(() -> {
            outstanding.decrementAndGet();
            pending.answer.complete((R) answer);
        });
    }

    void fail(PendingRequest<?> pending, Function<Request<?>, ConclaveException> reason) {
        ConclaveException failure = reason.apply(pending.request);
        dispatcher.execute(() -> {
            outstanding.decrementAndGet();
            pending.answer.completeExceptionally(failure);
        });
    }

    void refuse(PendingRequest<?> pending, RefusalReason reason, String why) {
        fail(pending, request -> new RefusedException(reason, request.describe() + ": " + why));
    }

    void failInFlight(Function<Request<?>, ConclaveException> reason) {
        failAll(inFlight, reason);
    }

    void failUnsent(Function<Request<?>, ConclaveException> reason) {
        failAll(unsent, reason);
    }

    private void failAll(Queue<PendingRequest<?>> requests, Function<Request<?>, ConclaveException> reason) {
        while (!requests.isEmpty()) {
            fail(requests.remove(), reason);
        }
    }
}
