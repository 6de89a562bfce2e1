package io.conclave.election;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.RemoveWatch;
import io.conclave.request.Request;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.Quiescence;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a succession costs at the server does not depend on how many wait. */
class ElectionHerdTest {
    private static final String PATH = "/elections/herd";
    private static final int SUCCESSIONS = 8;

    /** What {@link #SUCCESSIONS} successions cost. */
    private record Cost(int requests, int events) {}

    /** Many candidates on one store, each with a session of its own. */
    private static final class Herd implements AutoCloseable {
        final List<Coordinator> coordinators = new ArrayList<>();
        final Deque<CompletableFuture<Leadership>> campaigns = new ArrayDeque<>();
        final AtomicInteger requests = new AtomicInteger();
        final AtomicInteger watchesSet = new AtomicInteger();
        final AtomicInteger told = new AtomicInteger();
        final Set<String> watched = ConcurrentHashMap.newKeySet();
        final String name = "herd-" + UUID.randomUUID();
        final Faults faults = MemoryStore.named(name).faults();

        Herd(int candidates, int observers) throws InterruptedException {
            faults.intercept((session, request, index) -> {
                if (request instanceof Exists exists && exists.path().equals(NodePath.ROOT)) {
                    return RequestFate.PROCEED; // of the test itself
                }
                requests.incrementAndGet();
                watchesSet.addAndGet(request instanceof RemoveWatch ? -1 : setsWatch(session, request) ? 1 : 0);
                return RequestFate.PROCEED;
            });
            LeaderElection looking = LeaderElection.at(connect(), PATH);
            for (int i = 0; i < candidates; i++) {
                campaigns.add(LeaderElection.at(connect(), PATH).campaignAsync());
                int inLine = i + 1;
                await().pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofMillis(1))
                        .until(() -> places() == inLine);
            }
            for (int i = 0; i < observers; i++) {
                LeaderElection.at(connect(), PATH).observe(leader -> told.incrementAndGet());
            }
            await().atMost(Duration.ofSeconds(60)).until(() -> told.get() >= observers);
            assertEquals(candidates, looking.candidates().size());
        }

        private long places() throws InterruptedException {
            try {
                return coordinators.get(0).execute(GetChildren.of(NodePath.of(PATH))).names().stream()
                        .filter(name -> name.contains("lock-"))
                        .count();
            } catch (RefusedException noNode) {
                return 0;
            }
        }

        /**
         * A candidate that reads its own place once more sets the watch that it has; the names of places are never used
         * again.
         */
        private boolean setsWatch(long session, Request<?> request) {
            if (request instanceof Exists exists) {
                return exists.watcher().isPresent();
            }
            return request instanceof GetData get
                    && get.watcher().isPresent()
                    && (get.path().name().equals("leader") || watched.add(session + " " + get.path()));
        }

        private Coordinator connect() {
            Coordinator coordinator = Coordinator.builder("memory:" + name)
                    .sessionTimeout(Duration.ofHours(1)) // nobody keeps it alive
                    .timeSource(new ManualTimeSource()) // so no timer sends a request that is counted
                    .connect();
            coordinators.add(coordinator);
            return coordinator;
        }

        Cost succeed() throws Exception {
            campaigns.remove().get(120, SECONDS).close(); // the second one saw this head, and need not look again
            Leadership leader = campaigns.remove().get(120, SECONDS);
            awaitQuiet();
            int requestsBefore = requests.get();
            int watchesBefore = watches();
            int setBefore = watchesSet.get();
            for (int i = 0; i < SUCCESSIONS; i++) {
                leader.close();
                leader = campaigns.remove().get(120, SECONDS);
                awaitQuiet();
            }
            int fired = watchesBefore + watchesSet.get() - setBefore - watches();
            return new Cost(requests.get() - requestsBefore, fired);
        }

        private int watches() {
            return faults.liveSessions().stream().mapToInt(faults::watchCount).sum();
        }

        private void awaitQuiet() throws InterruptedException {
            Quiescence.await(faults, coordinators);
        }

        @Override
        public void close() {
            coordinators.forEach(Coordinator::close);
            MemoryStore.forget(name);
        }
    }

    private static Cost costOf(int candidates, int observers) throws Exception {
        try (Herd herd = new Herd(candidates, observers)) {
            Cost cost = herd.succeed();
            System.out.println("election, " + candidates + " candidates, " + observers + " observers: "
                    + cost.requests / (double) SUCCESSIONS + " requests and " + cost.events / (double) SUCCESSIONS
                    + " events for each succession");
            return cost;
        }
    }

    @Test
    void successionCostsTheSameForAnyNumberOfCandidates() throws Exception {
        Cost few = costOf(10, 0);
        assertEquals(few, costOf(50, 0));
        assertEquals(few, costOf(200, 0));
        assertEquals(new Cost(5 * SUCCESSIONS, 3 * SUCCESSIONS), few);
    }

    @Test
    void observerCostsTheSameForAnyNumberOfCandidates() throws Exception {
        Cost few = costOf(10, 20);
        assertEquals(few, costOf(200, 20));
        assertEquals(new Cost((5 + 2 * 20) * SUCCESSIONS, (3 + 2 * 20) * SUCCESSIONS), few);
    }

    @Test
    void candidatesThatComeAndGoWakeNoObserver() throws Exception {
        try (Herd herd = new Herd(1, 5)) {
            Leadership leader = herd.campaigns.remove().get(120, SECONDS);
            await().until(() -> herd.watches() >= 5);
            herd.awaitQuiet();
            int told = herd.told.get();
            int watches = herd.watches();
            for (int i = 0; i < 20; i++) {
                CompletableFuture<Leadership> passing =
                        LeaderElection.at(herd.coordinators.get(0), PATH).campaignAsync();
                LeaderElection election = LeaderElection.at(herd.coordinators.get(0), PATH);
                await().pollInterval(Duration.ofMillis(2))
                        .until(() -> election.candidates().size() == 2);
                passing.cancel(false);
                await().pollInterval(Duration.ofMillis(2))
                        .until(() -> election.candidates().size() == 1);
            }
            herd.awaitQuiet();
            assertEquals(told, herd.told.get());
            assertEquals(watches, herd.watches(), "nothing gathers");
            leader.close();
        }
    }
}
