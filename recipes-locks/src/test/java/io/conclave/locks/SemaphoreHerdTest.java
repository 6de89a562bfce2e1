package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.Quiescence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What a hand-over of a permit costs at the server does not depend on how many wait. */
class SemaphoreHerdTest {
    private static final String PATH = "/semaphores/herd";
    private static final int PERMITS = 3;

    /** What the server saw in a number of hand-overs. */
    private record Cost(int waiters, int handOvers, double requests, double events) {}

    private static Cost handOvers(int waiters) throws Exception {
        String store = UUID.randomUUID().toString();
        Faults faults = MemoryStore.named(store).faults();
        List<Coordinator> coordinators = new ArrayList<>();
        try {
            for (int i = 0; i < 10; i++) {
                coordinators.add(Coordinator.builder("memory:" + store)
                        .sessionTimeout(Duration.ofHours(1)) // nobody keeps it alive
                        .timeSource(new ManualTimeSource()) // so no timer sends a request that is counted
                        .connect());
            }
            List<PermitGrant> held = new ArrayList<>();
            for (int i = 0; i < PERMITS; i++) {
                held.add(semaphore(coordinators, i).acquire());
            }
            List<CompletableFuture<PermitGrant>> waiting = new ArrayList<>();
            for (int i = 0; i < waiters; i++) {
                waiting.add(semaphore(coordinators, i).acquireAsync(1));
                int present = i + 1;
                // one after the other, so that the order is known
                org.awaitility.Awaitility.await()
                        .pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofMillis(1))
                        .until(() -> semaphore(coordinators, 0).waiters().size() == present);
            }
            Quiescence.await(faults, coordinators);
            long requests = faults.requestCount();
            long events = faults.eventCount();
            int handOvers = 20;
            for (int i = 0; i < handOvers; i++) {
                held.get(i).close();
                held.add(waiting.get(i).get(120, SECONDS));
            }
            long looking = Quiescence.await(faults, coordinators);
            return new Cost(
                    waiters,
                    handOvers,
                    (faults.requestCount() - requests - looking) / (double) handOvers,
                    (faults.eventCount() - events) / (double) handOvers);
        } finally {
            coordinators.forEach(Coordinator::close);
            MemoryStore.forget(store);
        }
    }

    private static DistributedSemaphore semaphore(List<Coordinator> coordinators, int i) {
        return DistributedSemaphore.at(coordinators.get(i % coordinators.size()), PATH, PERMITS);
    }

    @Test
    void releaseWakesTheHeadOfTheLineOnly() throws Exception {
        Cost few = handOvers(25);
        Cost many = handOvers(200);
        System.out.println("semaphore herd: " + few + ", " + many);
        for (Cost cost : List.of(few, many)) {
            // what it is exactly depends on whether a watch or the release comes first
            assertTrue(cost.requests <= 7, "requests: " + cost);
            assertTrue(cost.events <= 5, "events: " + cost);
        }
    }
}
