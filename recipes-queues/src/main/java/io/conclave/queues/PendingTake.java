package io.conclave.queues;

import io.conclave.error.ClosedException;
import io.conclave.error.SessionGoneException;
import io.conclave.metrics.MetricsHook;
import io.conclave.metrics.Ongoing;
import io.conclave.metrics.Outcome;
import io.conclave.recipe.RecipeSession;
import io.conclave.spi.Elapsed;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A caller in this process that waits for an item. State belongs to the session's dispatcher; {@link #outcome} may be
 * waited for by anybody.
 */
final class PendingTake {
    private final Kind kind;
    private final Elapsed since;
    private final CompletableFuture<Optional<Delivery>> outcome = new CompletableFuture<>();
    private TimeSource.Timer timer = () -> {};
    private Ongoing wait = Ongoing.NONE;

    /** What happens to the item. */
    enum Mode {
        /** It is deleted. */
        TAKE,
        /** It is hidden until it is acknowledged. */
        CLAIM
    }

    /**
     * What callers have in common that one transaction serves.
     *
     * @param maxDeliveries an item that was delivered as often goes to the dead letters instead
     */
    record Kind(Mode mode, int maxDeliveries) {}

    PendingTake(Kind kind, TimeSource time) {
        this.kind = kind;
        this.since = Elapsed.since(time);
    }

    /** The wait begins; on the thread of the application's call. */
    void begins(MetricsHook hook, QueueLayout layout) {
        if (hook != MetricsHook.NONE) {
            wait = hook.begin("queue.wait", layout.path().toString());
        }
    }

    private void end(Outcome how) {
        timer.cancel();
        Ongoing ending = wait;
        wait = Ongoing.NONE;
        ending.end(how);
    }

    Kind kind() {
        return kind;
    }

    Mode mode() {
        return kind.mode();
    }

    /** The outcome; empty if there was no item in time. Completes on the dispatcher. */
    CompletableFuture<Optional<Delivery>> outcome() {
        return outcome;
    }

    boolean isOver() {
        return outcome.isDone();
    }

    /** The timer that ends it. */
    void endsBy(TimeSource.Timer newTimer) {
        timer = newTimer;
    }

    void deliver(RecipeSession session, QueueLayout layout, Delivery delivery) {
        String queue = layout.path().toString();
        session.metrics().count(mode() == Mode.TAKE ? "queue.take" : "queue.claim", queue);
        session.metrics().duration("queue.wait", queue, Duration.ofNanos(since.nanos()));
        end(Outcome.GRANTED);
        outcome.complete(Optional.of(delivery));
    }

    /** There was no item in time. */
    void endWithout() {
        end(Outcome.TIMED_OUT);
        outcome.complete(Optional.empty());
    }

    /** The caller does not wait any more. */
    void abandon() {
        end(Outcome.GIVEN_UP);
        outcome.complete(Optional.empty());
    }

    void fail(Throwable cause) {
        wait.failed(cause);
        end(outcomeOf(cause));
        outcome.completeExceptionally(cause);
    }

    private static Outcome outcomeOf(Throwable cause) {
        return cause instanceof ClosedException
                ? Outcome.CLOSED
                : cause instanceof SessionGoneException ? Outcome.LOST : Outcome.FAILED;
    }
}
