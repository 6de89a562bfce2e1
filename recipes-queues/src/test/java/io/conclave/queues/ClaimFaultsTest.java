package io.conclave.queues;

import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import io.conclave.testkit.driver.Scenario;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of consumers that claim and acknowledge: nothing is lost, no item has two owners, what is
 * acknowledged does not come back.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class ClaimFaultsTest {
    private static final String PATH = "/queues/claims";

    private static DistributedQueue<String> queue(Actor actor) {
        return DistributedQueue.at(actor.coordinator(), PATH, DataCodec.TEXT).withVisibility(Duration.ofSeconds(20));
    }

    /** The claimed items with their owners, and the acknowledged ones. Thread-safe. */
    private static final class Work {
        private final FaultRun run;
        private final Map<String, Claim<String>> claimed = new HashMap<>();
        private final Map<String, Claim<String>> acknowledged = new HashMap<>();

        Work(FaultRun run) {
            this.run = run;
        }

        synchronized void claimed(Claim<String> claim) {
            Claim<String> before = claimed.put(claim.item(), claim);
            // An operator's deletion of a claim frees its item at once, and its owner hears of it when it acknowledges;
            // a session that the server ends before its time frees it before its owner hears of that. A session that
            // ends in its time must not.
            boolean mayOverlap = run.struck().stream()
                    .anyMatch(fault -> fault.deletesNodes() || fault.toString().startsWith("EXPIRE"));
            if (before != null && before.isHeld() && claim.isHeld() && !mayOverlap) {
                run.violated("two have it: " + before + " and " + claim);
            }
            Claim<String> done = acknowledged.get(claim.item());
            boolean mayBeHeardLate = mayOverlap && done != null && claim.deliveries() < done.deliveries();
            if (done != null && claim.isHeld() && !mayBeHeardLate) {
                run.violated("claimed after it was acknowledged: " + claim);
            }
        }

        synchronized void acknowledged(Claim<String> claim) {
            acknowledged.put(claim.item(), claim);
        }

        synchronized int acknowledgedCount() {
            return acknowledged.size();
        }

        /** Claims, works and acknowledges, unless others have done everything. */
        void one(DistributedQueue<String> queue) throws InterruptedException {
            Optional<Claim<String>> claim = queue.claim(Duration.ofSeconds(60));
            if (claim.isPresent()) {
                try (Claim<String> one = claim.get()) {
                    work(one);
                }
            }
        }

        void work(Claim<String> claim) throws InterruptedException {
            claimed(claim);
            run.pause(Duration.ofMillis(500));
            claim.acknowledge();
            acknowledged(claim);
        }

        /** Each acknowledgement's failure says nothing about the others. */
        void together(Actor me, List<Claim<String>> claims) throws Exception {
            List<CompletableFuture<Void>> outcomes = atOnce(
                    me, () -> claims.stream().map(Claim::acknowledgeAsync).toList());
            ConclaveException failed = null;
            for (int i = 0; i < claims.size(); i++) {
                try {
                    me.await(outcomes.get(i));
                    acknowledged(claims.get(i));
                } catch (ConclaveException e) {
                    failed = failed == null ? e : failed;
                }
            }
            if (failed != null) {
                throw failed;
            }
        }

        /** Works until nothing has come for a while. */
        void all(DistributedQueue<String> queue) throws InterruptedException {
            while (true) {
                Optional<Claim<String>> claim =
                        queue.claim(Duration.ofSeconds(60)); // longer than a session or a claim lives
                if (claim.isEmpty()) {
                    return;
                }
                try (Claim<String> one = claim.get()) {
                    work(one);
                }
            }
        }
    }

    private static FaultDriver driver(String name, Scenario scenario) {
        return FaultDriver.of(name, scenario)
                .leaving(path -> path.toString().startsWith("/queues"))
                .within(Duration.ofMinutes(10));
    }

    /** Calls in one task of the dispatcher, so that what is behind the first one gathers. */
    private static <T> T atOnce(Actor me, Supplier<T> calls) throws Exception {
        CompletableFuture<T> called = new CompletableFuture<>();
        RecipeAccess.session(me.coordinator()).execute(() -> called.complete(calls.get()));
        return me.await(called);
    }

    private static void put(Actor producer, String... items) throws InterruptedException {
        QueueFixture.putAll(queue(producer), items);
    }

    /** Everything was acknowledged in the end, and nothing is left. */
    private static void checkAllDone(FaultRun run, Work work, Actor helper, int items) throws InterruptedException {
        checkAllDone(run, work, helper, items, 1);
    }

    /** As the first one, where so many may be acknowledged without an answer. */
    private static void checkAllDone(FaultRun run, Work work, Actor helper, int items, int unheard)
            throws InterruptedException {
        QueueCount left = queue(helper).count();
        if (!left.equals(new QueueCount(0, 0, 0))) {
            run.violated("left: " + left);
        }
        // whose acknowledgement was not answered does not know that it is done
        boolean mayBeUnheard = run.struck().stream().anyMatch(fault -> fault.endsSession() || fault.interrupts());
        if (work.acknowledgedCount() < items - (mayBeUnheard ? unheard : 0)) {
            run.violated("not acknowledged, and gone: " + (items - work.acknowledgedCount()));
        }
    }

    /** What other processes do while the victim is away. */
    private static void rivals(FaultRun run, Work work) {
        run.rival("works on one", me -> {
            Optional<Claim<String>> claim = queue(me).tryClaim();
            if (claim.isPresent()) {
                try (Claim<String> one = claim.get()) {
                    work.work(one);
                }
            }
        });
        run.rival("gives one back", me -> queue(me).tryClaim().ifPresent(Claim::close));
        run.rival("throws it out", me -> run.deleteZnodesOfVictim());
    }

    /** An operator puts dead letters back into the queue and leaves the copies where they are. */
    private static void requeue(Actor me) throws InterruptedException {
        NodePath queue = NodePath.of(PATH);
        NodePath dead = queue.child("dead");
        for (String name : namesBelow(me, dead)) {
            if (name.contains("queue-") && !namesBelow(me, queue).contains(name)) {
                byte[] data =
                        me.coordinator().execute(GetData.of(dead.child(name))).data();
                me.coordinator().execute(Create.of(queue.child(name)).withData(data));
            }
        }
    }

    private static List<String> namesBelow(Actor me, NodePath path) throws InterruptedException {
        return me.coordinator().execute(Exists.of(path)).isEmpty()
                ? List.of()
                : me.coordinator().execute(GetChildren.of(path)).names();
    }

    @Test
    void itemRequeuedWithoutDeletingItsCopyBecomesADeadLetterAgain() {
        driver("queue, dead letter that is there already", run -> {
                    Actor other = run.helper("other");
                    put(other, "bad");
                    AtomicReference<String> got = new AtomicReference<>("nothing");
                    run.rival("requeues it", ClaimFaultsTest::requeue);
                    DistributedQueue<String> worn = queue(other).withMaxDeliveries(1);
                    worn.claim().close();
                    worn.claim(Duration.ofSeconds(1)); // buries it
                    requeue(other);
                    worn.claim().close();
                    put(other, "good");
                    run.victim().start(me -> {
                        Optional<Claim<String>> claim =
                                queue(me).withMaxDeliveries(1).claim(Duration.ofSeconds(60));
                        if (claim.isPresent()) {
                            got.set(claim.get().item());
                            claim.get().close();
                        }
                    });
                    run.victim().join();
                    run.settle();
                    if (run.isClean() && !got.get().equals("good")) {
                        run.violated("claimed " + got);
                    }
                    QueueFixture.drain(queue(other));
                    QueueFixture.drain(queue(other).deadLetters());
                })
                .verify();
    }

    static FaultDriver claimAndAcknowledge() {
        return driver("queue, claim and acknowledge", run -> {
            Work work = new Work(run);
            rivals(run, work);
            Actor other = run.helper("other");
            put(other, "a", "b", "c");
            run.victim().start(me -> {
                work.one(queue(me));
                work.one(queue(me));
            });
            run.untilAtRest();
            other.start(me -> work.all(queue(me)));
            run.victim().join();
            other.join();
            checkAllDone(run, work, other, 3);
        });
    }

    @Test
    void claimedItemIsDoneByOneOrComesBack() {
        claimAndAcknowledge().verify();
    }

    /** Two of them behind one that is on its way. */
    static FaultDriver acknowledgeTogether() {
        return driver("queue, acknowledge three together", run -> {
            Work work = new Work(run);
            rivals(run, work);
            Actor other = run.helper("other");
            put(other, "a", "b", "c", "d");
            run.victim()
                    .start(
                            me -> { // what it claims first must not come to its deadline while it waits for others
                                List<CompletableFuture<Optional<Claim<String>>>> asked =
                                        atOnce(me, () -> Stream.generate(
                                                        () -> queue(me).claimAsync(Duration.ofSeconds(3)))
                                                .limit(3)
                                                .toList());
                                List<Claim<String>> claims = new ArrayList<>();
                                for (CompletableFuture<Optional<Claim<String>>> one : asked) {
                                    me.await(one).ifPresent(claims::add); // else rivals have done everything
                                }
                                claims.forEach(work::claimed);
                                work.together(me, claims);
                            });
            run.untilAtRest();
            other.start(me -> work.all(queue(me)));
            run.victim().join();
            other.join();
            checkAllDone(run, work, other, 4, 3);
        });
    }

    @Test
    void itemsAcknowledgedTogetherAreDoneOrComeBackEachByItself() {
        acknowledgeTogether().verify();
    }

    @Test
    void waitingWorkerGetsItsItem() {
        driver("queue, waiting claim", run -> {
                    Work work = new Work(run);
                    rivals(run, work);
                    Actor other = run.helper("other");
                    run.victim().start(me -> {
                        Optional<Claim<String>> claimed = me.await(queue(me).claimAsync(Duration.ofSeconds(60)));
                        if (claimed.isPresent()) {
                            try (Claim<String> claim = claimed.get()) {
                                work.claimed(claim);
                                me.await(claim.acknowledgeAsync());
                                work.acknowledged(claim);
                            }
                        }
                    });
                    run.untilAtRest();
                    put(other, "a", "b");
                    other.start(me -> work.all(queue(me)));
                    run.victim().join();
                    other.join();
                    checkAllDone(run, work, other, 2);
                })
                .verify();
    }

    @Test
    void itemThatIsGivenBackIsDeliveredAgain() {
        driver("queue, claim and give back", run -> {
                    Work work = new Work(run);
                    rivals(run, work);
                    Actor other = run.helper("other");
                    put(other, "a", "b");
                    run.victim().start(me -> {
                        Optional<Claim<String>> claim = queue(me).claim(Duration.ofSeconds(60));
                        claim.ifPresent(work::claimed); // else rivals have done everything
                        claim.ifPresent(Claim::close);
                    });
                    run.victim().join();
                    other.start(me -> work.all(queue(me)));
                    other.join();
                    checkAllDone(run, work, other, 2);
                })
                .verify();
    }

    static FaultDriver pastItsDeadline() {
        return driver("queue, claim past its deadline", run -> {
                    Work work = new Work(run);
                    rivals(run, work);
                    run.rival(
                            "works on it for longer", me -> queue(me).tryClaim().ifPresent(claim -> {
                                work.claimed(claim);
                                me.start(worker -> {
                                    run.pause(Duration.ofSeconds(5));
                                    claim.acknowledge();
                                    work.acknowledged(claim);
                                });
                            }));
                    Actor other = run.helper("other");
                    put(other, "a");
                    run.victim().start(me -> {
                        Claim<String> claim = queue(me)
                                .claim(Duration.ofSeconds(60))
                                .orElseThrow(() -> new GrantLostException(
                                        LossReason.RELEASED, "/queue", "the other one was quicker"));
                        work.claimed(claim);
                        run.pause(Duration.ofSeconds(25)); // longer than it is visible
                        claim.acknowledge();
                    });
                    run.untilAtRest();
                    other.start(me -> work.all(queue(me)));
                    run.victim().join();
                    other.join();
                    run.settle();
                    checkAllDone(run, work, other, 1);
                })
                .expecting(GrantLostException.class)
                .explaining(ClosedException.class, Fault.INTERRUPT);
    }

    @Test
    void itemPastItsDeadlineIsDeliveredAgain() {
        pastItsDeadline().verify();
    }

    /** Behind the return of the victim, which must not have done anything to what is claimed here. */
    private static void finish(FaultRun run, Claim<String> claim, AtomicBoolean isDone) throws InterruptedException {
        run.pause(Duration.ofSeconds(5));
        claim.acknowledge();
        isDone.set(true);
    }

    static FaultDriver deadLetter() {
        return driver("queue, dead letter", run -> {
            run.rival("requeues it", ClaimFaultsTest::requeue);
            run.rival(
                    "buries it", me -> queue(me).withMaxDeliveries(1).tryClaim().ifPresent(Claim::close));
            AtomicBoolean isDone = new AtomicBoolean();
            run.rival(
                    "works on it for longer",
                    me -> queue(me).tryClaim().ifPresent(claim -> me.start(worker -> finish(run, claim, isDone))));
            Actor other = run.helper("other");
            put(other, "bad", "good");
            queue(other).claim().close();
            run.victim().start(me -> {
                Optional<Claim<String>> claimed = queue(me).withMaxDeliveries(1).claim(Duration.ofSeconds(60));
                if (claimed.isPresent()) { // else the good one's claim was deleted before we heard of it
                    try (Claim<String> claim = claimed.get()) {
                        if (!claim.item().equals("good") && claim.deliveries() > 1) {
                            run.violated("delivered too often: " + claim);
                        }
                        claim.acknowledge();
                    }
                }
            });
            run.victim().join();
            run.pause(Duration.ofSeconds(60));
            QueueCount count = queue(other).count();
            boolean badIsThere = count.dead() + count.waiting() >= 1 || isDone.get();
            if (!badIsThere || count.dead() > 2 || count.claimed() > 0) {
                run.violated("the bad item is nowhere: " + count);
            }
            QueueFixture.drain(queue(other));
            QueueFixture.drain(queue(other).deadLetters());
        });
    }

    @Test
    void itemThatWasDeliveredTooOftenIsADeadLetter() {
        deadLetter().verify();
    }

    @Test
    void interruptedWorkerGivesBackItsItem() {
        driver("queue, interrupted claim", run -> {
                    Work work = new Work(run);
                    rivals(run, work);
                    Actor other = run.helper("other");
                    run.victim().start(me -> work.one(queue(me)));
                    run.untilAtRest();
                    run.interruptVictim();
                    put(other, "a");
                    run.victim().join();
                    other.start(me -> work.all(queue(me)));
                    other.join();
                    checkAllDone(run, work, other, 1);
                })
                .expecting(InterruptedException.class)
                .verify();
    }
}
