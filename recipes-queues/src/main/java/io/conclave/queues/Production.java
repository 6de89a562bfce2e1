package io.conclave.queues;

import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** One call that puts an item, in its blocking and its asynchronous form. */
final class Production {
    private final RecipeSession session;
    private final QueueLayout layout;
    private final OptionalInt bound;
    private final Put put;

    /**
     * A call that has not begun.
     *
     * @param nameOf makes the name to create of the item's guid
     */
    Production(
            RecipeSession session, QueueLayout layout, OptionalInt bound, UnaryOperator<String> nameOf, byte[] data) {
        this.session = session;
        this.layout = layout;
        this.bound = bound;
        String guid = UUID.randomUUID().toString();
        this.put = new Put(guid, nameOf.apply(guid), data);
    }

    /** Waits for room, if the queue has a bound, within a time if there is one. */
    Production begin(Optional<Duration> timeout) {
        session.execute(() -> producers().add(put, timeout));
        return this;
    }

    /** Waits for room for that long. */
    Production within(Duration timeout) {
        return begin(Optional.of(Waiting.checkedTimeout(timeout)));
    }

    private Producers producers() {
        return QueueAgents.of(session).producers(session, layout, bound);
    }

    private void abandon() {
        session.execute(() -> producers().abandon(put));
    }

    /** The blocking form. */
    boolean await() throws InterruptedException {
        try {
            return Waiting.await(session, put.outcome());
        } catch (InterruptedException | RuntimeException | Error e) {
            abandon();
            throw e;
        }
    }

    /** The asynchronous form: completes on a listener thread. */
    <S> CompletableFuture<S> stage(Function<Boolean, S> result) {
        CompletableFuture<S> stage = session.onListenerThread(
                "putting into " + layout.path(), put.outcome().thenApply(result));
        stage.whenComplete((answer, failure) -> {
            if (failure != null) {
                abandon();
            }
        });
        return stage;
    }
}
