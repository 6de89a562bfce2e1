package io.conclave.queues;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.DataCodec;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultFoundError;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of those who put into and take from a delay queue: nothing comes before its time, nothing
 * is lost or given twice, no one sleeps past what is due.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class DelayQueueFaultsTest {
    private static final String PATH = "/queues/delayed";
    private static final Duration DELAY = Duration.ofSeconds(8);

    /** The items of a run: each is put once, comes out once, and not before its time. */
    private static final class Times {
        private final FaultRun run;
        private final Ledger ledger;
        private final Map<String, Long> due = new ConcurrentHashMap<>();

        Times(FaultRun run) {
            this.run = run;
            this.ledger = new Ledger(run);
        }

        void put(Actor producer, String item, Duration delay) throws Exception {
            due.put(item, wallMillis(producer) + delay.toMillis());
            ledger.put(item, () -> queue(producer).put(item, delay));
        }

        void out(Actor consumer, String item) {
            seen(consumer, item);
            ledger.out(item);
        }

        void seen(Actor consumer, String item) {
            long early = due.getOrDefault(item, 0L) - wallMillis(consumer);
            if (early > 0) {
                run.violated(item + " came " + early + " ms before its time");
            }
        }

        private static long wallMillis(Actor actor) {
            return RecipeAccess.session(actor.coordinator()).time().wallMillis();
        }
    }

    @FunctionalInterface
    private interface Story {
        void play(FaultRun run, Times times) throws Exception;
    }

    private static FaultDriver driver(String name, Story story) {
        return FaultDriver.of("delay queue, " + name, run -> story.play(run, new Times(run)))
                .leaving(path -> path.toString().startsWith("/queues"))
                // another consumer has the item, most likely
                .explaining(OutcomeUnknownException.class, Fault.absences())
                .explaining(
                        OutcomeUnknownException.class, Fault.DELETE, Fault.DELETE_AND_DROP_AFTER, Fault.DELETE_AT_REST)
                .within(Duration.ofMinutes(3));
    }

    private static DistributedDelayQueue<String> queue(Actor actor) {
        return DistributedDelayQueue.at(actor.coordinator(), PATH, DataCodec.TEXT);
    }

    /** What other processes do while the victim is away: they leave as many items as there were. */
    private static void rivals(FaultRun run, Times times) {
        AtomicInteger exchanges = new AtomicInteger();
        run.rival("takes one and puts another", me -> {
            Optional<String> one = queue(me).tryTake();
            if (one.isPresent()) {
                times.out(me, one.get());
                times.put(me, "rival " + exchanges.incrementAndGet(), Duration.ofSeconds(1));
            }
        });
        run.rival("throws it out", me -> run.deleteZnodesOfVictim());
    }

    static FaultDriver put() {
        return driver("put", (run, times) -> {
            run.rival("takes one", me -> queue(me).tryTake().ifPresent(item -> times.out(me, item)));
            Actor taker = run.helper("taker");
            run.victim().start(me -> {
                times.put(me, "later", DELAY);
                times.put(me, "at once", Duration.ZERO);
            });
            taker.start(me -> {
                Optional<String> item = queue(me).take(Duration.ofSeconds(30));
                while (item.isPresent()) {
                    times.out(me, item.get());
                    item = queue(me).take(Duration.ofSeconds(30));
                }
            });
            run.victim().join();
            taker.join();
            times.ledger.close(taker, queue(taker), false);
        });
    }

    @Test
    void itemIsPutOnce() {
        put().verify();
    }

    static FaultDriver take() {
        return driver("take", (run, times) -> {
            rivals(run, times);
            Actor other = run.helper("other");
            times.put(other, "soon", DELAY);
            times.put(other, "later", DELAY.multipliedBy(2));
            run.victim().start(me -> times.out(me, queue(me).take()));
            run.victim().start(me -> times.out(me, queue(me).take()));
            run.victim().join();
            times.ledger.close(other, queue(other), true);
        });
    }

    @Test
    void itemIsTakenOnceAndAtItsTime() {
        take().verify();
    }

    /** The victim waits for the time of a late item when an earlier one is put. */
    private static FaultDriver earlierItem(int late) {
        return driver("earlier than " + late, (run, times) -> {
            rivals(run, times);
            Actor other = run.helper("other");
            for (int i = 0; i < late; i++) {
                times.put(other, "late " + i, Duration.ofSeconds(50));
            }
            run.victim().start(me -> times.out(me, queue(me).take()));
            run.untilAtRest();
            times.put(other, "early", Duration.ofSeconds(2));
            run.victim().join();
            times.ledger.close(other, queue(other), true);
        });
    }

    @Test
    void waiterIsWokenByAnEarlierItem() {
        earlierItem(1).verify();
    }

    @Test
    void waiterIsWokenByAnEarlierItemThanThoseOfALongList() {
        earlierItem(Consumers.FOLLOWED_ABOVE + 2).verify();
    }

    @Test
    void consumerBehindAnotherGetsItsItem() {
        driver("take behind another", (run, times) -> {
                    rivals(run, times);
                    Actor other = run.helper("other");
                    other.start(me -> times.out(me, queue(me).take()));
                    run.untilAtRest();
                    run.victim().start(me -> times.out(me, queue(me).take()));
                    run.untilAtRest();
                    Actor producer = run.helper("producer");
                    times.put(producer, "soon", DELAY);
                    times.put(producer, "later", DELAY.multipliedBy(2));
                    other.join();
                    run.victim().join();
                    times.ledger.close(other, queue(other), true);
                })
                .verify();
    }

    @Test
    void consumerThatTimesOutOrIsInterruptedLeavesNothingBehind() {
        driver("time-out and interrupt", (run, times) -> {
                    rivals(run, times);
                    Actor other = run.helper("other");
                    times.put(other, "far", Duration.ofSeconds(40));
                    run.victim().start(me -> queue(me).take(DELAY).ifPresent(item -> times.out(me, item)));
                    run.victim().join();
                    run.victim().start(me -> times.out(me, queue(me).take()));
                    run.untilAtRest();
                    run.interruptVictim();
                    run.victim().join();
                    times.ledger.close(other, queue(other), true);
                })
                .expecting(InterruptedException.class)
                .verify();
    }

    @Test
    void claimedItemComesBackHoweverItsClaimEnds() {
        driver("claim", (run, times) -> {
                    rivals(run, times);
                    Actor other = run.helper("other");
                    times.put(other, "soon", DELAY);
                    run.victim().start(me -> {
                        try (Claim<String> claim = queue(me).claim()) {
                            run.pause(Duration.ofMillis(500)); // at work
                            times.seen(me, claim.item());
                        }
                    });
                    run.victim().join();
                    times.ledger.close(other, queue(other), false);
                })
                .verify();
    }

    /** The scenario tells a consumer that does not heed the time. */
    @Test
    void consumerThatTakesBeforeTheTimeIsFound() {
        FaultFoundError found = assertThrows(FaultFoundError.class, () -> driver("planted: too early", (run, times) -> {
                    Actor other = run.helper("other");
                    times.put(other, "soon", DELAY);
                    DistributedPriorityQueue<String> blind = DistributedPriorityQueue.at(
                            run.victim().coordinator(), PATH, CuratorItem.of(DataCodec.TEXT));
                    run.victim().start(me -> times.out(me, blind.take()));
                    run.victim().join();
                })
                .verify());
        assertTrue(found.getMessage().contains("before its time"), found.getMessage());
    }
}
