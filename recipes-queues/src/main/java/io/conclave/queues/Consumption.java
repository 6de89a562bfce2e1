package io.conclave.queues;

import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * One call that asks for an item, in its blocking and its asynchronous form: however it ends other than with the item,
 * the item goes back.
 *
 * @param <R> what the caller gets
 */
final class Consumption<R> {
    private final RecipeSession session;
    private final QueueLayout layout;
    private final ItemOrder order;
    private final PendingTake pending;
    private final Function<Delivery, R> open;
    private final BiConsumer<Delivery, R> close;

    /**
     * A call that has not begun.
     *
     * @param open makes of the item what the caller gets; on the caller's thread or a listener thread. If it throws it
     *     has seen to the item
     * @param close gives back an item that is not taken
     */
    Consumption(
            RecipeSession session,
            QueueLayout layout,
            ItemOrder order,
            PendingTake pending,
            Function<Delivery, R> open,
            BiConsumer<Delivery, R> close) {
        this.session = session;
        this.layout = layout;
        this.order = order;
        this.pending = pending;
        this.open = open;
        this.close = close;
    }

    /** Waits for an item in the line, within a time if there is one. */
    Consumption<R> inLine(Optional<Duration> timeout) {
        pending.begins(session.metrics(), layout);
        session.execute(() -> consumers().add(pending, timeout));
        return this;
    }

    /** Waits for an item in the line for that long; for no time at all, takes what there is now. */
    Consumption<R> within(Duration timeout) {
        return Waiting.checkedTimeout(timeout).isZero() ? atOnce() : inLine(Optional.of(timeout));
    }

    /** Takes what there is now; if the store does not say what there is within the try timeout, it fails. */
    Consumption<R> atOnce() {
        pending.begins(session.metrics(), layout);
        // before the dispatcher knows of the pending: the time counts from here
        pending.endsBy(session.time().schedule(session.tryTimeout(), () -> session.execute(this::noAnswer)));
        session.execute(() -> consumers().attempt(pending));
        return this;
    }

    /** An item that is on its way by now goes back; if none can any more, its outcome decides. */
    private void noAnswer() {
        if (!pending.isOver() && session.state().isLive()) {
            pending.fail(session.noAnswer(
                    "whether there is an item in " + layout.path(), "Nothing is held; try again later"));
        }
    }

    private Consumers consumers() {
        return QueueAgents.of(session).consumers(session, layout, order);
    }

    private void abandon() {
        session.execute(() -> consumers().abandon(pending));
    }

    /** The blocking form. */
    Optional<R> await() throws InterruptedException {
        Optional<Delivery> delivery;
        try {
            delivery = Waiting.await(session, pending.outcome());
        } catch (InterruptedException | RuntimeException | Error e) {
            abandon();
            throw e;
        }
        return delivery.filter(Delivery::own).map(open);
    }

    /** The asynchronous form: completes on a listener thread; a caller that completes it itself gets nothing. */
    <S> CompletableFuture<S> stage(Function<Optional<R>, S> result) {
        CompletableFuture<S> stage = new CompletableFuture<>();
        Executor listeners = session.listenerThreads("consuming from " + layout.path());
        stage.whenComplete((answer, failure) -> abandon()); // for nothing, if it is the answer that ended it
        pending.outcome()
                .whenComplete((delivery, failure) -> listeners.execute(() -> {
                    if (failure != null) {
                        stage.completeExceptionally(Waiting.cause(failure));
                    } else if (!stage.isDone()) {
                        complete(stage, delivery, result);
                    } // else it was abandoned
                }));
        return stage;
    }

    private <S> void complete(
            CompletableFuture<S> stage, Optional<Delivery> delivery, Function<Optional<R>, S> result) {
        if (delivery.isPresent() && !delivery.get().own()) {
            return; // it went back: the stage was ended
        }
        try {
            Optional<R> opened = delivery.map(open);
            if (!stage.complete(result.apply(opened))) {
                opened.ifPresent(one -> close.accept(delivery.orElseThrow(), one));
            }
        } catch (Throwable e) { // Kotlin and Scala code may throw anything
            stage.completeExceptionally(e);
        }
    }
}
