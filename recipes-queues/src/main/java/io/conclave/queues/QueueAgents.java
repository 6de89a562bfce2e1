package io.conclave.queues;

import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.OptionalInt;

/**
 * The producers and consumers of a session, and their acknowledgements; those with nothing to do are removed when
 * another is made. State belongs to the session's dispatcher.
 */
final class QueueAgents {
    private final Map<ConsumersOf, Consumers> consumers = new HashMap<>();
    private final Map<ProducersOf, Producers> producers = new HashMap<>();
    private final Map<NodePath, GatheredAcknowledgements> acknowledgements = new HashMap<>();

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
        GatheredAcknowledgements known = acknowledgements.get(layout.path());
        if (known != null) {
            return known;
        }
        acknowledgements.values().removeIf(GatheredAcknowledgements::isIdle);
        GatheredAcknowledgements made = new GatheredAcknowledgements(session, layout);
        acknowledgements.put(layout.path(), made);
        return made;
    }

    Consumers consumers(RecipeSession session, QueueLayout layout, ItemOrder order) {
        ConsumersOf key = new ConsumersOf(layout.path(), order);
        Consumers known = consumers.get(key);
        if (known != null) {
            return known;
        }
        for (Iterator<Consumers> all = consumers.values().iterator(); all.hasNext(); ) {
            Consumers one = all.next();
            if (one.isIdle()) {
                one.close();
                all.remove();
            }
        }
        Consumers made = new Consumers(session, layout, order);
        consumers.put(key, made);
        return made;
    }

    Producers producers(RecipeSession session, QueueLayout layout, OptionalInt bound) {
        ProducersOf key = new ProducersOf(layout.path(), bound);
        Producers known = producers.get(key);
        if (known != null) {
            return known;
        }
        for (Iterator<Producers> all = producers.values().iterator(); all.hasNext(); ) {
            Producers one = all.next();
            if (one.isIdle()) {
                one.close();
                all.remove();
            }
        }
        Producers made = new Producers(session, layout, bound);
        producers.put(key, made);
        return made;
    }
}
