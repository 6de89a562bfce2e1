package io.conclave.queues;

import io.conclave.recipe.RecipeSession;
import io.conclave.time.Elapsed;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A caller in this process that waits for an item. State belongs to the session's dispatcher; {@link #outcome} may be
 * waited for by anybody.
 */
final class PendingTake {
    private final Mode mode;
    private final int maxDeliveries;
    private final Elapsed since;
    private final CompletableFuture<Optional<Delivery>> outcome = new CompletableFuture<>();
    private TimeSource.Timer timer = () -> {};

    /** What happens to the item. */
    enum Mode {
        /** It is deleted. */
        TAKE,
        /** It is hidden until it is acknowledged. */
        CLAIM
    }

    PendingTake(Mode mode, int maxDeliveries, TimeSource time) {
        this.mode = mode;
        this.maxDeliveries = maxDeliveries;
        this.since = Elapsed.since(time);
    }

    Mode mode() {
        return mode;
    }

    /** An item that was delivered as often goes to the dead letters instead. */
    int maxDeliveries() {
        return maxDeliveries;
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
        timer.cancel();
        String queue = layout.path().toString();
        session.metrics().count(mode == Mode.TAKE ? "queue.take" : "queue.claim", queue);
        session.metrics().duration("queue.wait", queue, Duration.ofNanos(since.nanos()));
        outcome.complete(Optional.of(delivery));
    }

    void endWithout() {
        timer.cancel();
        outcome.complete(Optional.empty());
    }

    void fail(Throwable cause) {
        timer.cancel();
        outcome.completeExceptionally(cause);
    }
}
