package io.conclave.queues;

import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusedException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.spi.GetChildren;
import io.conclave.testkit.contract.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;

/** Where the tests of the queues' contract work: coordinators that are closed after each of them, threads, and a look at the znodes. */
abstract class QueueFixture implements StoreUnderTest {
    static final String PATH = "/queues/orders";
    static final Duration PATIENCE = Duration.ofSeconds(20);

    private final List<Coordinator> coordinators = Collections.synchronizedList(new ArrayList<>());
    final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void closeAll() {
        threads.shutdownNow();
        coordinators.forEach(Coordinator::close);
    }

    /** Its reads see what other coordinators have written, also where servers lag: the recipes do not depend on that, the tests do. */
    final Coordinator connect() {
        Coordinator coordinator = Coordinator.builder(connectString())
                .sessionTimeout(sessionTimeout())
                .linearizableReads(true)
                .connect();
        coordinators.add(coordinator);
        return coordinator;
    }

    static DistributedQueue<String> queue(Coordinator coordinator) {
        return DistributedQueue.at(coordinator, PATH, DataCodec.TEXT);
    }

    static DistributedPriorityQueue<String> priorityQueue(Coordinator coordinator) {
        return DistributedPriorityQueue.at(coordinator, PATH, DataCodec.TEXT);
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

    static List<String> children(Coordinator coordinator, String path) throws InterruptedException {
        try {
            return coordinator.execute(GetChildren.of(NodePath.of(path))).names();
        } catch (RefusedException noNode) {
            return List.of();
        }
    }

    static void awaitConsumers(Coordinator coordinator, int count) {
        await().atMost(PATIENCE)
                .until(() -> children(coordinator, PATH + "/consumers").size() == count);
    }

    /** No item, no claim, nobody in a line, no witness. */
    static void awaitNothingLeft(Coordinator coordinator) {
        await().atMost(PATIENCE)
                .until(() -> List.of(PATH + "/consumers", PATH + "/producers", PATH + "/witnesses").stream()
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
