package io.conclave.queues;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.DataCodec;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.Quiescence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** What a take costs at the server does not depend on how many consumers wait. */
class QueueHerdTest {
    private static final String PATH = "/queues/herd";
    private static final int TAKES = 40;

    /** What the server saw, without what the puts cost. */
    private record Cost(String what, int consumers, double requests, double events) {
        @Override
        public String toString() {
            return String.format("%s, %d consumers: %.1f requests, %.1f events", what, consumers, requests, events);
        }
    }

    /** One consumer asks and gets its item, and asks again behind all others, each a session of its own. */
    private static Cost takes(
            String what, int consumers, Function<Coordinator, ItemQueue<String>> queueOf, boolean claims)
            throws Exception {
        String store = UUID.randomUUID().toString();
        Faults faults = MemoryStore.named(store).faults();
        List<Coordinator> coordinators = new ArrayList<>();
        try {
            Coordinator producer = connect(store, coordinators);
            List<ItemQueue<String>> queues = new ArrayList<>();
            for (int i = 0; i < consumers; i++) {
                queues.add(queueOf.apply(connect(store, coordinators)));
            }
            BlockingQueue<ItemQueue<String>> served = new LinkedBlockingQueue<>();
            for (ItemQueue<String> queue : queues) {
                ask(queue, claims, served);
            }
            awaitConsumers(producer, consumers);
            Quiescence.await(faults, coordinators);
            long requests = faults.requestCount();
            long events = faults.eventCount();
            long putRequests = 0;
            for (int i = 0; i < TAKES; i++) {
                long before = faults.requestCount();
                put(queueOf.apply(producer));
                putRequests++;
                ask(Objects.requireNonNull(served.poll(120, SECONDS), "no consumer got the item"), claims, served);
                assertTrue(faults.requestCount() > before);
            }
            long looking = Quiescence.await(faults, coordinators);
            double all = faults.requestCount() - requests - putRequests - looking;
            return new Cost(what, consumers, all / TAKES, (faults.eventCount() - events) / (double) TAKES);
        } finally {
            coordinators.forEach(Coordinator::close);
            MemoryStore.forget(store);
        }
    }

    private static void awaitConsumers(Coordinator coordinator, int count) {
        org.awaitility.Awaitility.await()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .until(() ->
                        QueueFixture.children(coordinator, PATH + "/consumers").size() == count);
    }

    private static void ask(ItemQueue<String> queue, boolean claims, BlockingQueue<ItemQueue<String>> served) {
        CompletableFuture<?> item =
                claims ? queue.claimAsync().thenCompose(Claim::acknowledgeAsync) : queue.takeAsync();
        item.thenRun(() -> served.add(queue));
    }

    private static void put(ItemQueue<String> queue) throws InterruptedException {
        if (queue instanceof DistributedQueue<String> fifo) {
            fifo.put("item");
        } else if (queue instanceof DistributedPriorityQueue<String> byPriority) {
            byPriority.put("item", 3);
        }
    }

    private static Coordinator connect(String store, List<Coordinator> coordinators) {
        Coordinator coordinator = Coordinator.builder("memory:" + store)
                .sessionTimeout(Duration.ofHours(1)) // nobody keeps it alive
                .timeSource(new ManualTimeSource()) // so no timer sends a request that is counted
                .connect();
        coordinators.add(coordinator);
        return coordinator;
    }

    /**
     * A herd of 200 would cost hundreds. On a quiet machine it is 11 to 13 requests and 4 to 5 events; whether a
     * consumer meets the item that is put next, or waits for it, is a matter of scheduling, and changes that by one or
     * two.
     */
    private static void check(List<Cost> costs, double mostRequests, double mostEvents) {
        costs.forEach(System.out::println);
        for (Cost cost : costs) {
            assertTrue(cost.requests <= mostRequests, "requests: " + cost);
            assertTrue(cost.events <= mostEvents, "events: " + cost);
        }
    }

    private static DistributedQueue<String> fifo(Coordinator coordinator) {
        return DistributedQueue.at(coordinator, PATH, DataCodec.TEXT);
    }

    private static DistributedPriorityQueue<String> byPriority(Coordinator coordinator) {
        return DistributedPriorityQueue.at(coordinator, PATH, DataCodec.TEXT);
    }

    @Test
    void takeCostsTheSameAmongFewAndMany() throws Exception {
        List<Cost> costs = new ArrayList<>();
        for (int consumers : new int[] {1, 20, 200}) {
            costs.add(takes("take", consumers, QueueHerdTest::fifo, false));
        }
        check(costs, 20, 8);
    }

    @Test
    void takeByPriorityCostsTheSameAmongFewAndMany() throws Exception {
        List<Cost> costs = new ArrayList<>();
        for (int consumers : new int[] {20, 200}) {
            costs.add(takes("take by priority", consumers, QueueHerdTest::byPriority, false));
        }
        check(costs, 20, 8);
    }

    @Test
    void claimCostsTheSameAmongFewAndMany() throws Exception {
        List<Cost> costs = new ArrayList<>();
        for (int consumers : new int[] {1, 20, 200}) {
            costs.add(takes("claim and acknowledge", consumers, QueueHerdTest::fifo, true));
        }
        check(costs, 20, 8);
    }

    /** As many as one process waits for come in one turn. */
    @Test
    void takesOfOneProcessShareTheirCost() throws Exception {
        String store = UUID.randomUUID().toString();
        Faults faults = MemoryStore.named(store).faults();
        List<Coordinator> coordinators = new ArrayList<>();
        try {
            DistributedQueue<String> queue = fifo(connect(store, coordinators));
            DistributedQueue<String> another = fifo(connect(store, coordinators));
            List<CompletableFuture<Void>> puts = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                puts.add(queue.putAsync("item"));
            }
            CompletableFuture.allOf(puts.toArray(CompletableFuture<?>[]::new)).get(120, SECONDS);
            Quiescence.await(faults, coordinators);
            long requests = faults.requestCount();
            List<CompletableFuture<String>> takes = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                takes.add((i < 50 ? queue : another).takeAsync());
            }
            CompletableFuture.allOf(takes.toArray(CompletableFuture<?>[]::new)).get(120, SECONDS);
            double each = (faults.requestCount() - requests) / 100.0;
            System.out.printf("100 takes of two processes: %.1f requests each%n", each);
            assertTrue(each <= 3, () -> each + " requests each");
        } finally {
            coordinators.forEach(Coordinator::close);
            MemoryStore.forget(store);
        }
    }
}
