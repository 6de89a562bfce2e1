package io.conclave.examples;

import static org.awaitility.Awaitility.await;

import io.conclave.barriers.Barrier;
import io.conclave.barriers.DoubleBarrier;
import io.conclave.barriers.Latch;
import io.conclave.commit.TwoPhaseCommit;
import io.conclave.election.LeaderElection;
import io.conclave.election.Leadership;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.queues.DistributedDelayQueue;
import io.conclave.queues.DistributedPriorityQueue;
import io.conclave.queues.DistributedQueue;
import io.conclave.queues.QueueCount;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * What surrounds some examples that are run: what is there before, and what other processes do meanwhile.
 *
 * @param before called first
 * @param meanwhile called while the example runs on another thread
 */
record Scene(Part before, Part meanwhile) {
    /** What is done on the test's thread. */
    interface Part {
        void play(Surroundings surroundings, Thread example) throws Exception;
    }

    private static final Part NOTHING = (surroundings, example) -> {};

    /** By what tells the example: its page, and a word in it. */
    static final Map<String, Scene> SCENES = scenes();

    static Scene of(DocumentExample example) {
        return SCENES.entrySet().stream()
                .filter(scene -> example.is(scene.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(new Scene(NOTHING, NOTHING));
    }

    private static Map<String, Scene> scenes() {
        Map<String, Scene> scenes = new HashMap<>();
        scenes.put("docs/failures.md: NODE_EXISTS", before(Scene::makeTheZnodesOfOrders));
        scenes.put("docs/failures.md: OutcomeUnknownException", before(Scene::makeTheZnodesOfOrders));
        scenes.put("docs/failures.md: SessionGoneException", before(Scene::endTheLoopAfterOneTurn));
        scenes.put("docs/fencing.md: StoreGuard", before(Scene::makeTheZnodesOfOrders));
        scenes.put(
                "docs/migration.md: DistributedQueue", new Scene(Scene::putAJob, Scene::interruptWhenAllJobsAreDone));
        scenes.put("docs/recipes/barrier.md: Barrier", meanwhile(Scene::removeTheBarrier));
        scenes.put("docs/recipes/double-barrier.md: DoubleBarrier", before(Scene::enterNineteenTimes));
        scenes.put(
                "docs/recipes/election.md: handOver",
                new Scene(Scene::lead, Scene::leaveTheLeadWithAnotherCandidateInLine));
        scenes.put("docs/recipes/latch.md: Latch", meanwhile(Scene::countDownTheOtherShards));
        scenes.put(
                "docs/recipes/locks.md: requestRelease",
                new Scene(Scene::makeStepsUntilAnotherWaits, Scene::waitAndAgreeToRelease));
        scenes.put("docs/recipes/queues.md: DistributedPriorityQueue", before(Scene::putAnotherJob));
        scenes.put("docs/recipes/queues.md: DistributedDelayQueue", before(Scene::putAReminderThatIsDue));
        scenes.put("docs/recipes/two-phase-commit.md: TwoPhaseCommit", before(Scene::joinWithTheOtherSites));
        return scenes;
    }

    private static Scene before(Part part) {
        return new Scene(part, NOTHING);
    }

    private static Scene meanwhile(Part part) {
        return new Scene(NOTHING, part);
    }

    private static void makeTheZnodesOfOrders(Surroundings at, Thread example) throws Exception {
        at.coordinator.execute(Create.of(NodePath.of("/orders")));
        at.coordinator.execute(Create.of(NodePath.of("/orders/last")));
    }

    private static void endTheLoopAfterOneTurn(Surroundings at, Thread example) {
        at.billing = token -> Thread.currentThread().interrupt();
    }

    private static void putAJob(Surroundings at, Thread example) throws Exception {
        jobs(at).put("send the invoices");
    }

    private static void interruptWhenAllJobsAreDone(Surroundings at, Thread example) {
        await().until(() -> jobs(at).count().equals(new QueueCount(0, 0, 0)));
        example.interrupt();
    }

    private static DistributedQueue<String> jobs(Surroundings at) {
        return DistributedQueue.at(at.coordinator, "/queues/jobs", DataCodec.TEXT);
    }

    private static void removeTheBarrier(Surroundings at, Thread example) throws Exception {
        Barrier barrier = Barrier.at(at.coordinator, "/barriers/maintenance");
        await().until(barrier::isSet);
        barrier.remove();
    }

    private static void enterNineteenTimes(Surroundings at, Thread example) {
        DoubleBarrier step = DoubleBarrier.at(at.coordinator, "/barriers/step", 20);
        for (int i = 0; i < 19; i++) {
            step.enterAsync().thenAccept(participation -> participation.leaveAsync());
        }
    }

    private static void lead(Surroundings at, Thread example) throws Exception {
        LeaderElection.at(at.coordinator, "/elections/billing").campaign();
    }

    private static void leaveTheLeadWithAnotherCandidateInLine(Surroundings at, Thread example) throws Exception {
        LeaderElection election = LeaderElection.at(at.coordinator, "/elections/billing");
        await().until(() -> election.candidates().size() == 2);
        CompletableFuture<Leadership> next = election.campaignAsync();
        await().until(() -> election.candidates().size() == 3);
        at.coordinator.execute(Delete.of(election.candidates().get(0).path()));
        next.thenAccept(Leadership::resignAsync);
    }

    private static void countDownTheOtherShards(Surroundings at, Thread example) throws Exception {
        Latch loaded = Latch.at(at.coordinator, "/jobs/42/loaded", 3);
        await().until(() -> loaded.remaining() == 2);
        loaded.countDown("shard-2");
        loaded.countDown("shard-3");
    }

    private static void makeStepsUntilAnotherWaits(Surroundings at, Thread example) {
        at.steps = new Iterator<>() {
            @Override
            public boolean hasNext() {
                return true;
            }

            @Override
            public Runnable next() {
                return Thread::yield;
            }
        };
    }

    private static void waitAndAgreeToRelease(Surroundings at, Thread example) throws Exception {
        DistributedLock lock = DistributedLock.at(at.coordinator, "/locks/orders");
        await().until(() -> lock.holder().isPresent());
        CompletableFuture<LockGrant> next = lock.acquireAsync();
        await().until(() -> lock.members().size() == 2);
        lock.requestRelease(lock.holder().orElseThrow());
        next.thenAccept(grant -> grant.revocationRequested().thenAccept(asked -> grant.closeAsync()));
    }

    private static void putAnotherJob(Surroundings at, Thread example) throws Exception {
        DistributedPriorityQueue.at(at.coordinator, "/queues/jobs", DataCodec.TEXT)
                .put("send the reminders", 20);
    }

    private static void putAReminderThatIsDue(Surroundings at, Thread example) throws Exception {
        DistributedDelayQueue.at(at.coordinator, "/queues/reminders", DataCodec.TEXT)
                .put("wake up", Duration.ZERO);
    }

    private static void joinWithTheOtherSites(Surroundings at, Thread example) {
        TwoPhaseCommit transfers = TwoPhaseCommit.at(at.coordinator, "/transfers");
        transfers.join("paris", new Surroundings.ReadyParticipant());
        transfers.join("rome", new Surroundings.ReadyParticipant());
    }
}
