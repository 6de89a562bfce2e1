package io.conclave.queues;

import io.conclave.error.RefusedException;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.GetChildren;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Takes or claims an item that is there at once, without a place in the line; if others are quicker a few times over,
 * there is none. One that the store refuses to give is passed over. On the dispatcher.
 */
final class Attempt implements DequeueTransaction.Outcome {
    private static final int TRIES = 10;

    private final RecipeSession session;
    private final QueueLayout layout;
    private final ItemOrder order;
    private final CommitMarker marker;
    private final PendingTake pending;
    private final PassedOver passedOver;
    private final Consumer<Delivery> giveBack;
    private final Runnable onEnd;
    private List<ItemName> left = List.of(); // of the list, the one that is being dequeued first
    private int tries;
    private int refused;

    Attempt(
            RecipeSession session,
            QueueLayout layout,
            ItemOrder order,
            CommitMarker marker,
            PendingTake pending,
            PassedOver passedOver,
            Consumer<Delivery> giveBack,
            Runnable onEnd) {
        this.session = session;
        this.layout = layout;
        this.order = order;
        this.marker = marker;
        this.pending = pending;
        this.passedOver = passedOver;
        this.giveBack = giveBack;
        this.onEnd = onEnd;
    }

    void begin() {
        if (pending.isOver()) {
            onEnd.run();
            return;
        }
        session.read(
                session.forApplication(GetChildren.of(layout.path())),
                children -> onListed(ItemName.unclaimed(children.names(), order)),
                Failures.ifNoNode(this::endWithout, this::failed));
    }

    private void endWithout() {
        pending.endWithout();
        onEnd.run();
    }

    private void onListed(List<ItemName> items) {
        if (pending.isOver()) {
            onEnd.run();
            return;
        }
        left = items;
        refused = 0;
        if (!isFirstDue() || ++tries > TRIES) {
            endWithout();
        } else {
            dequeueFirst();
        }
    }

    private void dequeueFirst() {
        new DequeueTransaction(session, layout, pending.kind(), left.subList(0, 1), this)
                .begin(Map.of(), (operations, dequeued, outcome) -> marker.perform(operations, outcome));
    }

    private boolean isFirstDue() {
        return !left.isEmpty() && order.untilDue(left.get(0), session.time().wallMillis()) <= 0;
    }

    @Override
    public void dequeued(List<Delivery> deliveries) {
        onEnd.run();
        if (deliveries.isEmpty()) {
            return; // it has gone back
        }
        Delivery one = deliveries.get(0);
        if (!pending.isOver()) {
            pending.deliver(session, layout, one);
        } else if (one.own()) {
            giveBack.accept(one);
        }
    }

    @Override
    public void buried(ItemName item) {
        session.metrics().count("queue.dead", layout.path().toString());
        tries--; // one less of them
        begin();
    }

    @Override
    public void stale(ItemName item) {
        begin();
    }

    @Override
    public void unusable(ItemName item, RefusedException refusal) {
        passedOver.add(item, refusal);
        left = left.subList(1, left.size());
        if (pending.isOver()) {
            onEnd.run();
        } else if (!isFirstDue() || ++refused >= PassedOver.MOST) {
            failed(refusal);
        } else {
            dequeueFirst();
        }
    }

    @Override
    public void again() {
        begin();
    }

    @Override
    public void failed(Throwable cause) {
        pending.fail(cause);
        onEnd.run();
    }

    @Override
    public int wanted() {
        return pending.isOver() ? 0 : 1;
    }
}
