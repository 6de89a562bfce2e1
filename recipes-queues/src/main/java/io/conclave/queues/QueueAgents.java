package io.conclave.queues;

import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Supplier;

/**
 * The producers and consumers of a session, and their acknowledgements; those with nothing to do are removed when
 * another is made. State belongs to the session's dispatcher.
 */
final class QueueAgents {
    private final Map<ConsumersOf, Consumers> consumers = new HashMap<>();
    private final Map<ProducersOf, Producers> producers = new HashMap<>();
    private final Map<NodePath, GatheredAcknowledgements> acknowledgements = new HashMap<>();

    /** Works for all callers of one queue in a session. */
    interface Agent {
        /** Whether nothing is on its way, or waits for that. */
        boolean isIdle();

        /** It is idle, and is not used any more. */
        default void close() {}
    }

    private record ConsumersOf(NodePath path, ItemOrder order) {}

    private record ProducersOf(NodePath path, OptionalInt bound) {}

    /** Those of a session. Any thread. */
    static QueueAgents of(RecipeSession session) {
        return session.keep(QueueAgents.class, QueueAgents::new);
    }

    /** An item that was ours is on its way back into the queue. */
    void onReturned(NodePath path) {
        consumers.forEach((key, agent) -> {
            if (key.path.equals(path)) {
                agent.onReturned();
            }
        });
    }

    GatheredAcknowledgements acknowledgements(RecipeSession session, QueueLayout layout) {
        return agent(acknowledgements, layout.path(), () -> new GatheredAcknowledgements(session, layout));
    }

    Consumers consumers(RecipeSession session, QueueLayout layout, ItemOrder order) {
        return agent(consumers, new ConsumersOf(layout.path(), order), () -> new Consumers(session, layout, order));
    }

    Producers producers(RecipeSession session, QueueLayout layout, OptionalInt bound) {
        return agent(producers, new ProducersOf(layout.path(), bound), () -> new Producers(session, layout, bound));
    }

    private static <K, A extends Agent> A agent(Map<K, A> all, K key, Supplier<A> make) {
        A known = all.get(key);
        if (known != null) {
            return known;
        }
        for (Iterator<A> each = all.values().iterator(); each.hasNext(); ) {
            A one = each.next();
            if (one.isIdle()) {
                one.close();
                each.remove();
            }
        }
        A made = make.get();
        all.put(key, made);
        return made;
    }
}
