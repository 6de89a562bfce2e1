package io.conclave.queues;

import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Delete;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.session.Registration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * All acknowledgements of one queue in one session. One that finds no other on its way goes at once; what gathers while
 * a transaction is on its way goes into the next one.
 *
 * <p>They share a transaction only as long as all is well. If it is refused or its outcome is not known, each of its
 * acknowledgements goes on alone ({@link Settlement}), so that what happened to one item decides nothing about others.
 *
 * <p>When the coordinator is closed nothing waits any more: all goes out at once, before the session ends. State
 * belongs to the session's dispatcher.
 */
final class GatheredAcknowledgements implements QueueAgents.Agent {
    static final int MAX_AT_ONCE = 64;
    private static final int OPERATIONS_EACH = 2;

    private final RecipeSession session;
    private final QueueLayout layout;
    private final Deque<Acknowledgement> waiting = new ArrayDeque<>();
    private final Registration atClosing;
    private int sent; // transactions, not answered yet
    private boolean isClosing;

    GatheredAcknowledgements(RecipeSession session, QueueLayout layout) {
        this.session = session;
        this.layout = layout;
        this.atClosing = session.onClosing(this::onClosing);
    }

    @Override
    public boolean isIdle() {
        return sent == 0 && waiting.isEmpty();
    }

    @Override
    public void close() {
        atClosing.close();
    }

    private void onClosing() {
        isClosing = true;
        proceed();
    }

    /**
     * Deletes an item and our claim of it, if the item has the version that our claim has given to it. Completes on the
     * dispatcher, as {@link Settlement#of} does.
     */
    CompletionStage<Settlement.Result> add(ItemName item, int version) {
        Acknowledgement one = new Acknowledgement(
                layout.claim(item),
                List.of(Delete.of(layout.item(item)).withVersion(version), Delete.of(layout.claim(item))));
        waiting.add(one);
        proceed();
        return one.result;
    }

    private void proceed() {
        while (!waiting.isEmpty() && (sent == 0 || isClosing)) {
            sendNext();
        }
    }

    private void sendNext() {
        sent++;
        List<Acknowledgement> batch = new ArrayList<>();
        List<Operation<?>> operations = new ArrayList<>();
        while (batch.size() < MAX_AT_ONCE && !waiting.isEmpty()) {
            Acknowledgement next = waiting.remove();
            batch.add(next);
            operations.addAll(next.deletions);
        }
        session.send(new Multi(operations), results -> onDone(batch), cause -> onFailure(batch, cause));
    }

    private void onDone(List<Acknowledgement> batch) {
        sent--;
        proceed();
        batch.forEach(Acknowledgement::done);
    }

    private void onFailure(List<Acknowledgement> batch, Throwable cause) {
        sent--;
        for (int i = 0; i < batch.size(); i++) {
            if (batch.size() == 1 || concerns(i, cause)) {
                batch.get(i).goOnAfter(cause);
            } else {
                batch.get(i).goAlone();
            }
        }
        proceed();
    }

    /** Whether the failure says something about this one of several, and not only that they went together. */
    private static boolean concerns(int index, Throwable cause) {
        if (!(cause instanceof RefusedException refusal) || Failures.mayPass(cause)) {
            return true;
        }
        OptionalInt operation = refusal.operationIndex();
        return operation.isPresent() && operation.getAsInt() / OPERATIONS_EACH == index;
    }

    /** One acknowledgement. */
    private final class Acknowledgement {
        private final NodePath claim;
        private final List<Operation<?>> deletions;
        private final CompletableFuture<Settlement.Result> result = new CompletableFuture<>();

        Acknowledgement(NodePath claim, List<Operation<?>> deletions) {
            this.claim = claim;
            this.deletions = deletions;
        }

        void done() {
            result.complete(Settlement.Result.DONE);
        }

        void goAlone() {
            Waiting.forward(Settlement.of(session, claim, new Multi(deletions)), result);
        }

        void goOnAfter(Throwable cause) {
            Waiting.forward(Settlement.after(session, claim, new Multi(deletions), cause), result);
        }
    }

    @Override
    public String toString() {
        return "GatheredAcknowledgements[" + layout.path() + ", " + waiting.size() + " waiting]";
    }
}
