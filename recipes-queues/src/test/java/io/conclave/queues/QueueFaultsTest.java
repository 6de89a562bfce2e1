package io.conclave.queues;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.DataCodec;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of producers and consumers: nothing is lost or given twice, no one is blocked, nothing
 * stays behind.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class QueueFaultsTest {
    private static final String PATH = "/queues/faults";

    private static DistributedQueue<String> queue(Actor actor) {
        return DistributedQueue.at(actor.coordinator(), PATH, DataCodec.TEXT);
    }

    private static DistributedPriorityQueue<String> priorityQueue(Actor actor) {
        return DistributedPriorityQueue.at(actor.coordinator(), PATH, DataCodec.TEXT);
    }

    /** One run, whose items are accounted for. */
    @FunctionalInterface
    private interface Story {
        void play(FaultRun run, Ledger ledger) throws Exception;
    }

    private static FaultDriver driver(String name, Story story) {
        return FaultDriver.of(name, run -> story.play(run, new Ledger(run)))
                .leaving(path -> path.toString().startsWith("/queues"))
                // another consumer has the item, most likely
                .explaining(OutcomeUnknownException.class, Fault.absences())
                .explaining(
                        OutcomeUnknownException.class, Fault.DELETE, Fault.DELETE_AND_DROP_AFTER, Fault.DELETE_AT_REST)
                .within(Duration.ofMinutes(3));
    }

    private static void put(Ledger ledger, Actor producer, String... items) throws Exception {
        for (String item : items) {
            ledger.put(item, () -> queue(producer).put(item));
        }
    }

    private static void take(Ledger ledger, Actor consumer, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            ledger.out(queue(consumer).take());
        }
    }

    /** Takes all that comes, until nothing has come for half a minute. */
    private static void takeAll(Ledger ledger, Actor consumer) throws Exception {
        Optional<String> item = queue(consumer).take(Duration.ofSeconds(30));
        while (item.isPresent()) {
            ledger.out(item.get());
            item = queue(consumer).take(Duration.ofSeconds(30));
        }
    }

    /** What other processes do while the victim is away: they leave as many items as there were. */
    private static void rivals(FaultRun run, Ledger ledger) {
        AtomicInteger exchanges = new AtomicInteger();
        run.rival("takes one and puts another", me -> {
            Optional<String> one = queue(me).tryTake();
            if (one.isPresent()) {
                ledger.out(one.get());
                put(ledger, me, "rival " + exchanges.incrementAndGet());
            }
        });
        run.rival("throws it out", me -> run.deleteZnodesOfVictim());
    }

    /** Another process takes what there is. */
    private static void taker(FaultRun run, Ledger ledger) {
        run.rival("takes one", me -> queue(me).tryTake().ifPresent(ledger::out));
    }

    static FaultDriver put() {
        return driver("queue, put", (run, ledger) -> {
            taker(run, ledger);
            Actor taker = run.helper("taker");
            run.victim().start(me -> put(ledger, me, "a", "b", "c"));
            // takes what it can get hold of while the reply may be on its way
            taker.start(me -> takeAll(ledger, me));
            run.victim().join();
            taker.join();
            ledger.close(taker, queue(taker), false);
        });
    }

    @Test
    void itemIsPutOnce() {
        put().verify();
    }

    @Test
    void itemIsPutOnceWithinTheBound() {
        driver("queue, bounded put", (run, ledger) -> {
                    taker(run, ledger);
                    Actor other = run.helper("other");
                    put(ledger, other, "first");
                    run.victim().start(me -> {
                        for (String item : new String[] {"a", "b", "c"}) {
                            ledger.put(item, () -> queue(me).withBound(2).put(item));
                        }
                    });
                    run.untilAtRest();
                    other.start(me ->
                            ledger.put("other", () -> queue(me).withBound(2).put("other")));
                    Actor taker = run.helper("taker");
                    taker.start(me -> takeAll(ledger, me));
                    run.victim().join();
                    other.join();
                    taker.join();
                    ledger.close(taker, queue(taker), false);
                })
                .verify();
    }

    static FaultDriver take() {
        return driver("queue, take", (run, ledger) -> {
            rivals(run, ledger);
            Actor other = run.helper("other");
            put(ledger, other, "a", "b", "c", "d");
            run.victim().start(me -> take(ledger, me, 2));
            other.start(me -> take(ledger, me, 2));
            run.victim().join();
            other.join();
            ledger.close(other, queue(other), true);
        });
    }

    @Test
    void itemIsTakenOnce() {
        take().verify();
    }

    @Test
    void waitingConsumerGetsItsItemOrSaysWhyNot() {
        driver("queue, waiting take", (run, ledger) -> {
                    rivals(run, ledger);
                    Actor other = run.helper("other");
                    run.victim().start(me -> ledger.out(me.await(queue(me).takeAsync())));
                    run.untilAtRest();
                    other.start(me -> take(ledger, me, 1));
                    run.untilAtRest();
                    Actor producer = run.helper("producer");
                    put(ledger, producer, "a", "b");
                    run.victim().join();
                    if (run.struck().isEmpty()) {
                        other.join();
                    }
                    // if the victim's item was lost with it, the other one still waits
                    put(ledger, producer, "c");
                    other.join();
                    ledger.close(other, queue(other), true);
                })
                .verify();
    }

    @Test
    void waitingConsumerBehindAnotherGetsItsItemOrSaysWhyNot() {
        driver("queue, take behind another", (run, ledger) -> {
                    rivals(run, ledger);
                    Actor other = run.helper("other");
                    other.start(me -> take(ledger, me, 1));
                    run.untilAtRest();
                    run.victim().start(me -> take(ledger, me, 1));
                    run.untilAtRest();
                    Actor producer = run.helper("producer");
                    put(ledger, producer, "a");
                    other.join();
                    put(ledger, producer, "b");
                    run.victim().join();
                    ledger.close(other, queue(other), true);
                })
                .verify();
    }

    @Test
    void allConsumersOfOneProcessAreServed() {
        driver("queue, three takes at once", (run, ledger) -> {
                    rivals(run, ledger);
                    Actor other = run.helper("other");
                    put(ledger, other, "a", "b", "c", "d");
                    for (int i = 0; i < 3; i++) {
                        run.victim().start(me -> take(ledger, me, 1));
                    }
                    run.victim().join();
                    run.pause(Duration.ofSeconds(60));
                    int lost = 4 - ledger.outCount() - queue(other).count().waiting();
                    if (lost > 0 && !Ledger.mayLose(run)) {
                        run.violated("lost: " + lost);
                    }
                    QueueFixture.drain(queue(other)).forEach(ledger::out);
                })
                .verify();
    }

    /** If others put an item in time, it is taken. */
    static FaultDriver takeInVain() {
        Duration patience = Duration.ofMinutes(1); // longer than two absences
        return driver("queue, take with a time-out", (run, ledger) -> {
                    AtomicLong filledAtNanos = new AtomicLong(Long.MAX_VALUE);
                    run.rival("puts one", me -> {
                        put(ledger, me, me.name());
                        filledAtNanos.accumulateAndGet(run.time().monotonicNanos(), Math::min);
                    });
                    run.rival("puts one and takes one", me -> {
                        put(ledger, me, me.name());
                        queue(me).tryTake().ifPresent(ledger::out);
                    });
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    run.victim().start(me -> {
                        Optional<String> item = queue(me).take(patience);
                        item.ifPresent(ledger::out);
                        long filledNanos = run.time().monotonicNanos() - filledAtNanos.get();
                        if (item.isEmpty()
                                && filledNanos > patience.dividedBy(2).toNanos()) {
                            run.violated(
                                    "it gave up, although an item was there since " + Duration.ofNanos(filledNanos));
                        }
                    });
                    run.victim().join();
                    Actor other = run.helper("other");
                    put(ledger, other, "a");
                    ledger.close(other, queue(other), true);
                })
                .within(Duration.ofMinutes(5));
    }

    @Test
    void consumerThatTimesOutLeavesNothingBehind() {
        takeInVain().verify();
    }

    @Test
    void interruptedConsumerLeavesNothingBehind() {
        driver("queue, interrupted take", (run, ledger) -> {
                    rivals(run, ledger);
                    run.rival("puts one", me -> put(ledger, me, me.name()));
                    run.victim().start(me -> take(ledger, me, 1));
                    run.untilAtRest();
                    run.interruptVictim();
                    run.victim().join();
                    Actor other = run.helper("other");
                    put(ledger, other, "a");
                    ledger.close(other, queue(other), true);
                })
                .expecting(InterruptedException.class)
                .verify();
    }

    @Test
    void tryIsAnsweredAtOnce() {
        driver("queue, try", (run, ledger) -> {
                    rivals(run, ledger);
                    Actor other = run.helper("other");
                    put(ledger, other, "a");
                    run.victim().start(me -> {
                        me.unlessTheStoreIsSilent(() -> queue(me).tryTake().ifPresent(ledger::out));
                        me.unlessTheStoreIsSilent(() -> queue(me).tryTake().ifPresent(ledger::out));
                    });
                    run.victim().join();
                    ledger.close(other, queue(other), true);
                })
                .verify();
    }

    @Test
    void urgentItemIsTakenOnce() {
        driver("priority queue, take", (run, ledger) -> {
                    rivals(run, ledger);
                    Actor other = run.helper("other");
                    ledger.put("later", () -> priorityQueue(other).put("later", 50));
                    ledger.put("soon", () -> priorityQueue(other).put("soon", 20));
                    run.victim().start(me -> {
                        ledger.put("now", () -> priorityQueue(me).put("now", 0));
                        ledger.out(priorityQueue(me).take());
                        ledger.out(priorityQueue(me).take());
                    });
                    run.victim().join();
                    ledger.close(other, priorityQueue(other), true);
                })
                .verify();
    }

    /** So many items that the consumer follows the list instead of reading it again. */
    static FaultDriver takeFromLongPriorityQueue() {
        return driver("priority queue, a long list", (run, ledger) -> {
            rivals(run, ledger);
            Actor other = run.helper("other");
            List<CompletableFuture<Void>> puts = new ArrayList<>();
            for (int i = 0; i < Consumers.FOLLOWED_ABOVE + 8; i++) {
                String item = "work " + i;
                ledger.put(item, () -> puts.add(priorityQueue(other).putAsync(item, 50)));
            }
            for (CompletableFuture<Void> one : puts) {
                other.await(one);
            }
            AtomicInteger taken = new AtomicInteger();
            run.victim().start(me -> {
                for (int i = 0; i < 3; i++) {
                    ledger.out(priorityQueue(me).take());
                    taken.incrementAndGet();
                }
            });
            run.victim().join();
            ledger.put("urgent", () -> priorityQueue(other).put("urgent", 1));
            run.victim().start(me -> {
                String item = priorityQueue(me).take();
                ledger.out(item);
                if (taken.get() == 3 && run.struck().isEmpty() && !item.equals("urgent")) {
                    run.violated(item + " came before the urgent one");
                }
            });
            run.victim().join();
            ledger.close(other, priorityQueue(other), true);
        });
    }

    @Test
    void itemsOfALongPriorityQueueAreTakenOnce() {
        takeFromLongPriorityQueue().verify();
    }
}
