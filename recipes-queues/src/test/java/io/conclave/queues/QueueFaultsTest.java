package io.conclave.queues;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.DataCodec;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.Scenario;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each fault at each request of those who put and those who take: nothing is lost or given twice, nobody is blocked, nothing stays behind. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class QueueFaultsTest {
    private static final String PATH = "/queues/faults";

    private static DistributedQueue<String> queue(Actor actor) {
        return DistributedQueue.at(actor.coordinator(), PATH, DataCodec.TEXT);
    }

    private static DistributedPriorityQueue<String> priorityQueue(Actor actor) {
        return DistributedPriorityQueue.at(actor.coordinator(), PATH, DataCodec.TEXT);
    }

    private static FaultDriver driver(String name, Scenario scenario) {
        return FaultDriver.of(name, scenario)
                .leaving(path -> path.toString().startsWith("/queues"))
                .explaining(
                        OutcomeUnknownException.class, Fault.DELETE, Fault.DELETE_AND_DROP_AFTER, Fault.DELETE_AT_REST)
                .within(Duration.ofMinutes(3));
    }

    @Test
    void itemIsPutOnce() {
        driver("queue, put", run -> {
                    Ledger ledger = new Ledger(run);
                    Actor taker = run.helper("taker");
                    run.victim().start(me -> {
                        for (String item : new String[] {"a", "b", "c"}) {
                            ledger.put(item, () -> queue(me).put(item));
                        }
                    });
                    // takes what it can get hold of while the reply may be on its way
                    taker.start(me -> {
                        Optional<String> item = queue(me).take(Duration.ofSeconds(30));
                        while (item.isPresent()) {
                            ledger.out(item.get());
                            item = queue(me).take(Duration.ofSeconds(30));
                        }
                    });
                    run.victim().join();
                    taker.join();
                    ledger.close(taker, queue(taker), false);
                })
                .verify();
    }

    @Test
    void itemIsPutOnceWithinTheBound() {
        driver("queue, bounded put", run -> {
                    Ledger ledger = new Ledger(run);
                    Actor other = run.helper("other");
                    ledger.put("first", () -> queue(other).put("first"));
                    run.victim().start(me -> {
                        for (String item : new String[] {"a", "b", "c"}) {
                            ledger.put(item, () -> queue(me).withBound(2).put(item));
                        }
                    });
                    run.untilAtRest();
                    other.start(me ->
                            ledger.put("other", () -> queue(me).withBound(2).put("other")));
                    Actor taker = run.helper("taker");
                    taker.start(me -> {
                        Optional<String> item = queue(me).take(Duration.ofSeconds(30));
                        while (item.isPresent()) {
                            ledger.out(item.get());
                            item = queue(me).take(Duration.ofSeconds(30));
                        }
                    });
                    run.victim().join();
                    other.join();
                    taker.join();
                    ledger.close(taker, queue(taker), false);
                })
                .verify();
    }

    @Test
    void itemIsTakenOnce() {
        driver("queue, take", run -> {
                    Ledger ledger = new Ledger(run);
                    Actor other = run.helper("other");
                    for (String item : new String[] {"a", "b", "c", "d"}) {
                        ledger.put(item, () -> queue(other).put(item));
                    }
                    run.victim().start(me -> {
                        ledger.out(queue(me).take());
                        ledger.out(queue(me).take());
                    });
                    other.start(me -> {
                        ledger.out(queue(me).take());
                        ledger.out(queue(me).take());
                    });
                    run.victim().join();
                    other.join();
                    ledger.close(other, queue(other), true);
                })
                .verify();
    }

    @Test
    void waitingConsumerGetsItsItemOrSaysWhyNot() {
        driver("queue, waiting take", run -> {
                    Ledger ledger = new Ledger(run);
                    Actor other = run.helper("other");
                    run.victim().start(me -> ledger.out(me.await(queue(me).takeAsync())));
                    run.untilAtRest();
                    other.start(me -> ledger.out(queue(me).take()));
                    run.untilAtRest();
                    Actor producer = run.helper("producer");
                    ledger.put("a", () -> queue(producer).put("a"));
                    ledger.put("b", () -> queue(producer).put("b"));
                    run.victim().join();
                    if (run.struck().isEmpty()) {
                        other.join();
                    }
                    // if the victim's item was lost with it, the other one still waits
                    ledger.put("c", () -> queue(producer).put("c"));
                    other.join();
                    ledger.close(other, queue(other), true);
                })
                .verify();
    }

    @Test
    void waitingConsumerBehindAnotherGetsItsItemOrSaysWhyNot() {
        driver("queue, take behind another", run -> {
                    Ledger ledger = new Ledger(run);
                    Actor other = run.helper("other");
                    other.start(me -> ledger.out(queue(me).take()));
                    run.untilAtRest();
                    run.victim().start(me -> ledger.out(queue(me).take()));
                    run.untilAtRest();
                    Actor producer = run.helper("producer");
                    ledger.put("a", () -> queue(producer).put("a"));
                    other.join();
                    ledger.put("b", () -> queue(producer).put("b"));
                    run.victim().join();
                    ledger.close(other, queue(other), true);
                })
                .verify();
    }

    @Test
    void wholeCrowdOfOneProcessIsServed() {
        driver("queue, three takes at once", run -> {
                    Ledger ledger = new Ledger(run);
                    Actor other = run.helper("other");
                    for (String item : new String[] {"a", "b", "c", "d"}) {
                        ledger.put(item, () -> queue(other).put(item));
                    }
                    for (int i = 0; i < 3; i++) {
                        run.victim().start(me -> ledger.out(queue(me).take()));
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

    @Test
    void consumerWhoseTimeIsOverLeavesNothingBehind() {
        driver("queue, take with a time-out", run -> {
                    Ledger ledger = new Ledger(run);
                    run.victim()
                            .start(me -> queue(me).take(Duration.ofSeconds(5)).ifPresent(ledger::out));
                    run.victim().join();
                    Actor other = run.helper("other");
                    ledger.put("a", () -> queue(other).put("a"));
                    ledger.close(other, queue(other), false);
                })
                .verify();
    }

    @Test
    void interruptedConsumerLeavesNothingBehind() {
        driver("queue, interrupted take", run -> {
                    Ledger ledger = new Ledger(run);
                    run.victim().start(me -> ledger.out(queue(me).take()));
                    run.untilAtRest();
                    run.interruptVictim();
                    run.victim().join();
                    Actor other = run.helper("other");
                    ledger.put("a", () -> queue(other).put("a"));
                    ledger.close(other, queue(other), false);
                })
                .expecting(InterruptedException.class)
                .verify();
    }

    @Test
    void whoTriesGetsAnAnswerAtOnce() {
        driver("queue, try", run -> {
                    Ledger ledger = new Ledger(run);
                    Actor other = run.helper("other");
                    ledger.put("a", () -> queue(other).put("a"));
                    run.victim().start(me -> {
                        queue(me).tryTake().ifPresent(ledger::out);
                        queue(me).tryTake().ifPresent(ledger::out);
                    });
                    run.victim().join();
                    ledger.close(other, queue(other), true);
                })
                .verify();
    }

    @Test
    void urgentItemIsTakenOnce() {
        driver("priority queue, take", run -> {
                    Ledger ledger = new Ledger(run);
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
}
