package io.conclave.queues;

import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.spi.GetChildren;
import io.conclave.spi.Request;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Takes or claims an item that is there at once, without a place in the line; if others are quicker a few times over, there is none. On the dispatcher. */
final class Attempt implements Draw.Outcome {
    private static final int TRIES = 10;

    private final RecipeSession session;
    private final QueueLayout layout;
    private final boolean byPriority;
    private final Witness witness;
    private final Wish wish;
    private final Consumer<Delivery> giveBack;
    private int tries;

    Attempt(
            RecipeSession session,
            QueueLayout layout,
            boolean byPriority,
            Witness witness,
            Wish wish,
            Consumer<Delivery> giveBack) {
        this.session = session;
        this.layout = layout;
        this.byPriority = byPriority;
        this.witness = witness;
        this.wish = wish;
        this.giveBack = giveBack;
    }

    void begin() {
        if (wish.isOver()) {
            return;
        }
        GetChildren list = GetChildren.of(layout.path());
        Request<GetChildren.Children> asked = session.linearizableReads() ? list.linearizable() : list;
        session.send(asked, children -> onListed(ItemName.unclaimed(children.names(), byPriority)), cause -> {
            if (Refusals.isNoNode(cause)) {
                wish.endWithout();
            } else if (cause instanceof OutcomeUnknownException) {
                begin();
            } else {
                wish.fail(cause);
            }
        });
    }

    private void onListed(List<ItemName> items) {
        if (wish.isOver()) {
            return;
        }
        if (items.isEmpty() || ++tries > TRIES) {
            wish.endWithout();
        } else {
            new Draw(session, layout, wish.mode(), wish.maxDeliveries(), items.subList(0, 1), this)
                    .begin(Map.of(), (operations, drawn, outcome) -> witness.perform(operations, outcome));
        }
    }

    @Override
    public void drawn(List<Delivery> deliveries) {
        Delivery one = deliveries.get(0);
        if (!wish.isOver()) {
            wish.deliver(session, layout, one);
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
    public void again() {
        begin();
    }

    @Override
    public void failed(Throwable cause) {
        wish.fail(cause);
    }
}
