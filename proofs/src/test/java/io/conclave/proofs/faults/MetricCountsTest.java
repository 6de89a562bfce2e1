package io.conclave.proofs.faults;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.barriers.Barrier;
import io.conclave.barriers.DoubleBarrier;
import io.conclave.barriers.Latch;
import io.conclave.barriers.Participation;
import io.conclave.commit.Participant;
import io.conclave.commit.TransactionPart;
import io.conclave.commit.TwoPhaseCommit;
import io.conclave.commit.Vote;
import io.conclave.config.NodeCache;
import io.conclave.config.UniqueIds;
import io.conclave.coordinator.Coordinator;
import io.conclave.election.Candidate;
import io.conclave.election.LeaderElection;
import io.conclave.election.Leadership;
import io.conclave.error.LossReason;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.DistributedSemaphore;
import io.conclave.locks.Keeping;
import io.conclave.locks.KeptLock;
import io.conclave.locks.LeasedLock;
import io.conclave.locks.MultiLock;
import io.conclave.locks.SharedLock;
import io.conclave.membership.Group;
import io.conclave.membership.Membership;
import io.conclave.membership.PartitionGrant;
import io.conclave.membership.PartitionListener;
import io.conclave.membership.PartitionShare;
import io.conclave.membership.Partitioner;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.DataCodec;
import io.conclave.queues.Claim;
import io.conclave.queues.DistributedQueue;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import org.junit.jupiter.api.Test;

/**
 * What the metrics hook is told of each recipe while nothing goes wrong: each thing so often as it happens, and as what
 * docs/metrics.md says, a count or a duration.
 */
class MetricCountsTest {
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final Duration LONG = Duration.ofHours(1);

    private final Map<String, Integer> told = new ConcurrentSkipListMap<>();

    /** Uses a recipe. */
    private interface Use {
        void of(Coordinator coordinator) throws Exception;
    }

    /**
     * Uses a recipe on a store of its own and closes the coordinator.
     *
     * @param expected each name that is told then, and how often, in order of the names
     */
    private void assertTold(String expected, Use use) throws Exception {
        MetricsTable table = MetricsTable.read();
        told.clear();
        MetricsHook hook = new MetricsHook() {
            @Override
            public void count(String name, String subject) {
                tell(name, MetricsTable.Kind.COUNT);
            }

            @Override
            public void duration(String name, String subject, Duration duration) {
                tell(name, MetricsTable.Kind.DURATION);
            }

            private void tell(String name, MetricsTable.Kind kind) {
                if (name.startsWith("queue.turn.")) {
                    return; // how soon a turn ends in which nothing is waited for is a matter of time
                }
                String wrong = table.kinds().get(name) == kind ? "" : " as a " + kind + ", which is not in the table";
                told.merge(name + wrong, 1, Integer::sum);
            }
        };
        try (Coordinator coordinator =
                Coordinator.builder("memory:").metrics(hook).connect()) {
            use.of(coordinator);
        }
        await().untilAsserted(() -> assertEquals("{" + expected + "}", told.toString()));
    }

    @Test
    void locks() throws Exception {
        assertTold(
                "lock.held=1, lock.released=1, lock.wait=1",
                one -> DistributedLock.at(one, "/lock").acquire(PATIENCE).close());
        assertTold("lock.held=2, lock.released=2, lock.wait=2", one -> {
            SharedLock.at(one, "/lock").writeLock().acquire(PATIENCE).close();
            SharedLock.at(one, "/lock").readLock().acquire(PATIENCE).close();
        });
        assertTold("lock.held=2, lock.released=2, lock.wait=2", one -> MultiLock.of(
                        DistributedLock.at(one, "/a"), DistributedLock.at(one, "/b"))
                .acquire(PATIENCE)
                .close());
        assertTold("lock.held=1, lock.kept=2, lock.released=1, lock.wait=1", one -> {
            KeptLock kept = DistributedLock.at(one, "/lock").kept(Keeping.idleFor(LONG));
            for (int i = 0; i < 3; i++) {
                kept.acquire(PATIENCE).close();
            }
        });
    }

    @Test
    void permitsAndLeases() throws Exception {
        assertTold(
                "semaphore.admission.held=1, semaphore.admission.released=1, semaphore.admission.wait=1,"
                        + " semaphore.held=1, semaphore.released=1, semaphore.wait=1",
                one -> DistributedSemaphore.at(one, "/semaphore", 2)
                        .acquire(2, PATIENCE)
                        .close());
        assertTold(
                "lease.held=1, lease.released=1, lease.turn.held=1, lease.turn.released=1, lease.turn.wait=1,"
                        + " lease.wait=1",
                one -> LeasedLock.at(one, "/lease", LONG).acquire(PATIENCE).close());
    }

    @Test
    void elections() throws Exception {
        assertTold(
                "election.campaign=1, election.held=1, election.released=1, election.wait=1",
                one -> LeaderElection.at(one, "/election").campaign(PATIENCE).close());
        assertTold(
                "election.campaign=2, election.held=2, election.released=2, election.transferred=1, election.wait=2",
                one -> {
                    LeaderElection election = LeaderElection.at(one, "/election");
                    Leadership first = election.campaign(PATIENCE);
                    CompletableFuture<Leadership> next = election.campaignAsync();
                    await().until(() -> election.candidates().size() == 2);
                    Candidate behind = election.candidates().get(1);
                    first.handOver(behind, PATIENCE);
                    next.join().close();
                });
    }

    @Test
    void barriers() throws Exception {
        assertTold("barrier.wait=1", one -> {
            Barrier barrier = Barrier.at(one, "/barrier");
            barrier.set();
            CompletableFuture<Void> open = barrier.awaitAsync();
            barrier.remove();
            open.join();
        });
        assertTold("latch.count=2, latch.wait=1", one -> {
            Latch latch = Latch.at(one, "/latch", 2);
            latch.countDown("a");
            latch.countDown("b");
            latch.await();
        });
        assertTold(
                "doublebarrier.enter=1, doublebarrier.inside=1, doublebarrier.leave=1, doublebarrier.opened=1", one -> {
                    try (Participation inside =
                            DoubleBarrier.at(one, "/barrier", 1).enter()) {
                        inside.leave();
                    }
                });
    }

    @Test
    void queues() throws Exception {
        assertTold("queue.put=1, queue.take=1, queue.wait=1", one -> {
            queue(one).put("item");
            queue(one).take();
        });
        assertTold("queue.acknowledge=1, queue.claim=1, queue.put=1, queue.wait=1", one -> {
            queue(one).put("item");
            queue(one).claim().acknowledge();
        });
        String twice = "queue.claim=1, queue.dead=1, queue.put=1, queue.return=1, queue.unacknowledged=1, queue.wait=1";
        assertTold(twice, one -> {
            DistributedQueue<String> worn = queue(one).withMaxDeliveries(1);
            worn.put("item");
            worn.claim().close(); // given back
            CompletableFuture<Optional<Claim<String>>> none = worn.claimAsync(PATIENCE);
            await().until(() -> worn.count().dead() == 1);
            none.cancel(false);
        });
    }

    private static DistributedQueue<String> queue(Coordinator coordinator) {
        return DistributedQueue.at(coordinator, "/queue", DataCodec.TEXT);
    }

    @Test
    void groups() throws Exception {
        assertTold("membership.join=1", one -> {
            try (Membership<String> member =
                    Group.at(one, "/group", DataCodec.TEXT).join("a", "payload")) {
                member.id();
            }
        });
        assertTold(
                "membership.assigned=1, membership.join=1, mirror.load=2, partition.held=1, partition.released=1,"
                        + " partition.wait=1",
                one -> {
                    CompletableFuture<PartitionGrant> acquired = new CompletableFuture<>();
                    Partitioner partitioner =
                            Partitioner.at(one, "/partitions", List.of("p")).withQuietPeriod(Duration.ZERO);
                    try (PartitionShare share = partitioner.join("a", new PartitionListener() {
                        @Override
                        public void acquired(PartitionGrant partition) {
                            acquired.complete(partition);
                        }

                        @Override
                        public void released(PartitionGrant partition, LossReason reason) {}
                    })) {
                        acquired.join();
                    }
                });
    }

    @Test
    void idsAndCaches() throws Exception {
        assertTold("ids.reserve=1", one -> {
            UniqueIds.at(one, "/ids").next();
            UniqueIds.at(one, "/ids").next();
        });
        assertTold("mirror.load=1", one -> {
            try (NodeCache cache = NodeCache.at(one, "/config")) {
                cache.awaitLoaded(PATIENCE);
            }
        });
    }

    @Test
    void commits() throws Exception {
        assertTold("commit.committed=1, commit.decide=1, commit.finished=2", one -> {
            TwoPhaseCommit commit = TwoPhaseCommit.at(one, "/commit");
            commit.join("berlin", willing(Vote.COMMIT));
            commit.join("paris", willing(Vote.COMMIT));
            commit.commit("t", new byte[0], List.of("berlin", "paris"));
            await().until(() -> told.getOrDefault("commit.finished", 0) == 2);
        });
        assertTold("commit.aborted=1, commit.decide=1, commit.finished=1", one -> {
            TwoPhaseCommit commit = TwoPhaseCommit.at(one, "/commit");
            commit.join("berlin", willing(Vote.ABORT));
            commit.commit("t", new byte[0], List.of("berlin"));
            await().until(() -> told.getOrDefault("commit.finished", 0) == 1);
        });
    }

    private static Participant willing(Vote vote) {
        return new Participant() {
            @Override
            public Vote prepare(TransactionPart transaction) {
                return vote;
            }

            @Override
            public void commit(TransactionPart transaction) {}

            @Override
            public void abort(TransactionPart transaction) {}
        };
    }
}
