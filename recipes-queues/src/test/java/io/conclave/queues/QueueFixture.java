package io.conclave.queues;

import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.DataCodec;
import io.conclave.testkit.contract.RecipeFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Where the tests of the queues' contract work, and what is left of a queue. */
abstract class QueueFixture extends RecipeFixture {
    static final String PATH = "/queues/orders";

    static DistributedQueue<String> queue(Coordinator coordinator) {
        return DistributedQueue.at(coordinator, PATH, DataCodec.TEXT);
    }

    static DistributedPriorityQueue<String> priorityQueue(Coordinator coordinator) {
        return DistributedPriorityQueue.at(coordinator, PATH, DataCodec.TEXT);
    }

    static DistributedDelayQueue<String> delayQueue(Coordinator coordinator) {
        return DistributedDelayQueue.at(coordinator, PATH, DataCodec.TEXT);
    }

    static void putAll(DistributedQueue<String> queue, String... items) throws InterruptedException {
        for (String item : items) {
            queue.put(item);
        }
    }

    /** What is in the queue now, taken out of it in order. */
    static List<String> drain(ItemQueue<String> queue) throws InterruptedException {
        List<String> items = new ArrayList<>();
        for (Optional<String> item = queue.tryTake(); item.isPresent(); item = queue.tryTake()) {
            items.add(item.get());
        }
        return items;
    }

    static void awaitConsumers(Coordinator coordinator, int count) {
        awaitChildren(coordinator, PATH + "/consumers", count);
    }

    /** No item, no claim, no contender in a line, no commit marker. */
    static void awaitNothingLeft(Coordinator coordinator) {
        awaitNothingLeft(coordinator, PATH);
    }

    /** As the first one, where the lines and the markers are elsewhere. */
    static void awaitNothingLeft(Coordinator coordinator, String agents) {
        await().atMost(PATIENCE)
                .until(() -> List.of(agents + "/consumers", agents + "/producers", agents + "/witnesses").stream()
                                .allMatch(path ->
                                        childrenUnchecked(coordinator, path).isEmpty())
                        && childrenUnchecked(coordinator, PATH).stream().noneMatch(name -> name.contains("queue-")));
    }

    private static List<String> childrenUnchecked(Coordinator coordinator, String path) {
        try {
            return children(coordinator, path);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
