package io.conclave.client;

import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * The requests that wait to be sent. Any thread adds them, the session's event loop removes them in order. Nothing
 * follows a close.
 *
 * <p>The bound counts requests until they are completed, so those in flight and those whose answer waits for the
 * dispatcher, too.
 */
final class RequestQueue {
    private final int maxOutstanding;
    private final Executor dispatcher;
    private final Queue<Exchange> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger outstanding = new AtomicInteger();
    private final AtomicBoolean drainScheduled = new AtomicBoolean();
    private final AtomicBoolean closeRequested = new AtomicBoolean();
    // The loop's.
    private boolean closeSent;

    /**
     * An empty queue.
     *
     * @param dispatcher completes what fails before the loop has seen it
     */
    RequestQueue(int maxOutstanding, Executor dispatcher) {
        this.maxOutstanding = maxOutstanding;
        this.dispatcher = dispatcher;
    }

    // ---- from any thread

    /**
     * Adds a request, or fails it at once: beyond the bound, unless it may pass that, or behind a close.
     *
     * @return whether the caller must have the loop drain the queue; if not, that is on its way already
     */
    boolean submit(UserExchange<?> exchange) {
        if (outstanding.incrementAndGet() > maxOutstanding && !exchange.isTakenBeyondTheBound()) {
            outstanding.decrementAndGet();
            exchange.fail(
                    new RefusedException(
                            RefusalReason.LIMIT_EXCEEDED,
                            exchange.describe() + ": " + maxOutstanding
                                    + " requests are under way in this session already"),
                    dispatcher);
            return false;
        }
        if (closeRequested.get()) {
            outstanding.decrementAndGet();
            exchange.fail(new ClosedException(exchange.describe() + ": the session was closed"), dispatcher);
            return false;
        }
        exchange.accept();
        waiting.add(exchange);
        return drainScheduled.compareAndSet(false, true);
    }

    /** Adds the close and refuses what comes after it; false if that was done before. */
    boolean close(CloseExchange close) {
        boolean first = closeRequested.compareAndSet(false, true);
        if (first) {
            waiting.add(close);
        }
        return first;
    }

    /** An accepted request has been completed. */
    void completed() {
        outstanding.decrementAndGet();
    }

    /** The loop has ended and will not drain: fails all that wait. */
    void failWithoutLoop() {
        drainScheduled.set(false);
        for (Exchange next = waiting.poll(); next != null; next = waiting.poll()) {
            if (next instanceof UserExchange<?> exchange) {
                exchange.fail(new ClosedException(next.describe() + ": the backend was closed"), dispatcher);
            }
        }
    }

    // ---- on the loop

    /** The requested drain begins: a request that is submitted from now on asks for another. */
    void drainBegins() {
        drainScheduled.set(false);
    }

    /** Adds the close again, for a new connection. */
    void closeAgain(CloseExchange close) {
        waiting.add(close);
    }

    /**
     * Sends as many waiting requests as the connection takes.
     *
     * @param tooLate makes the failure of a request, by its description, that came behind the close
     */
    void sendTo(Connection connection, Function<String, ConclaveException> tooLate) {
        while (connection.mayWrite()) {
            Exchange next = waiting.poll();
            if (next == null) {
                break;
            }
            if (closeSent && !(next instanceof CloseExchange)) {
                next.failed(tooLate.apply(next.describe()));
            } else {
                closeSent |= next instanceof CloseExchange;
                connection.send(next);
            }
        }
        connection.flush();
    }

    /**
     * Fails all waiting requests.
     *
     * @param reason makes the failure of a request by its description
     */
    void failAll(Function<String, ConclaveException> reason) {
        for (Exchange next = waiting.poll(); next != null; next = waiting.poll()) {
            next.failed(reason.apply(next.describe()));
        }
    }
}
