package io.conclave.barriers;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.barriers.TextbookDoubleBarrier.Mistake;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusedException;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultFoundError;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The fault driver finds the mistakes that double barriers usually have, and nothing in the same barrier without them:
 * so it would find them in ours.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("proof")
class PlantedMistakesTest {
    private static final int PARTICIPANTS = 3;

    /** The participants that have come, and those inside, in one run. */
    private static final class Passage {
        private final FaultRun run;
        private final Set<String> begun = ConcurrentHashMap.newKeySet();
        private final Set<String> inside = ConcurrentHashMap.newKeySet();
        private volatile boolean opened;

        Passage(FaultRun run) {
            this.run = run;
        }

        Actor.Body through(String rank, Mistake... mistakes) {
            return me -> {
                begun.add(me.name());
                TextbookDoubleBarrier barrier =
                        new TextbookDoubleBarrier(RecipeAccess.session(me.coordinator()), PARTICIPANTS, rank, mistakes);
                barrier.enter();
                try {
                    inside(me);
                    barrier.leave();
                    if (inside.stream().anyMatch(name -> !name.equals("victim"))) {
                        run.violated(me.name() + " has left, but inside are " + inside);
                    }
                } finally {
                    inside.remove(me.name());
                    barrier.remove();
                }
            };
        }

        private void inside(Actor me) throws InterruptedException {
            opened = true;
            if (begun.size() < PARTICIPANTS) {
                run.violated(me.name() + " entered, but only these had come: " + begun);
            }
            inside.add(me.name());
            run.pause(Duration.ofMillis(me.name().equals("victim") ? 300 : 500));
            inside.remove(me.name());
        }
    }

    /** The victim is the second of three, and is replaced if it fails before the barrier opens. */
    private static FaultDriver driver(String name, Mistake... mistakes) {
        return FaultDriver.of("planted: " + name, run -> {
                    run.helper("founder").coordinator().execute(Create.of(TextbookDoubleBarrier.PATH));
                    Passage passage = new Passage(run);
                    run.helper("first").start(passage.through("c"));
                    run.untilAtRest();
                    run.victim().start(passage.through("a", mistakes));
                    run.untilAtRest();
                    run.helper("last").start(passage.through("p"));
                    run.victim().join();
                    run.untilAtRest();
                    if (!passage.opened) {
                        run.helper("replacement").start(passage.through("m"));
                    }
                })
                .within(Duration.ofMinutes(2))
                .requestsAtMost(6, 20);
    }

    @Test
    void barrierWithoutMistakesPasses() {
        assertTrue(driver("textbook double barrier, no mistake").verify().total() > 100);
    }

    @ParameterizedTest
    @CsvSource({
        "COUNTS_TWICE_AFTER_A_LOST_REPLY, but only these had come",
        "FORGETS_ITS_NODE_ON_INTERRUPT, of the victim",
        "WAITS_FOR_A_WATCH_THAT_IS_NOT_SET, lost wake-up",
        "DOES_NOT_LOOK_AGAIN_WHEN_IT_WAKES, but only these had come"
    })
    void mistakeIsFound(Mistake mistake, String sign) {
        FaultFoundError found = assertThrows(
                FaultFoundError.class, () -> driver(mistake.toString(), mistake).verify());
        System.out.println(mistake + " found after " + found.runs() + " runs, with " + found.plan());
        assertTrue(found.runs() > 0, found::getMessage);
        assertTrue(found.getMessage().contains(sign), found::getMessage);
    }

    /** Sets a simple barrier; a creation whose reply was lost is sent again, whatever has happened since. */
    private static void setAgain(Actor me) throws InterruptedException {
        while (true) {
            try {
                me.coordinator().execute(Create.of(TextbookDoubleBarrier.PATH));
                return;
            } catch (OutcomeUnknownException unknown) {
                // in place twice is as good as once, unless it has been removed
            } catch (RefusedException there) {
                return;
            }
        }
    }

    @Test
    void barrierThatIsSetAgainAfterItsRemovalIsFound() {
        FaultDriver driver = FaultDriver.of("planted: barrier set again", run -> {
            Actor helper = run.helper("helper");
            AtomicInteger removed = new AtomicInteger();
            run.rival("removes it", me -> {
                if (me.coordinator()
                        .execute(Exists.of(TextbookDoubleBarrier.PATH))
                        .isPresent()) {
                    me.coordinator().execute(Delete.of(TextbookDoubleBarrier.PATH));
                    removed.incrementAndGet();
                }
            });
            run.victim().start(PlantedMistakesTest::setAgain);
            run.victim().join();
            run.settle();
            boolean isSet = helper.coordinator()
                    .execute(Exists.of(TextbookDoubleBarrier.PATH))
                    .isPresent();
            if (removed.get() + (isSet ? 1 : 0) > 1) {
                run.violated("one call has set it twice");
            }
        });
        FaultFoundError found = assertThrows(FaultFoundError.class, driver::verify);
        System.out.println("barrier set again found after " + found.runs() + " runs, with " + found.plan());
        assertTrue(found.runs() > 0 && found.runs() <= 20, found::getMessage);
        assertTrue(found.getMessage().contains("set it twice"), found::getMessage);
    }
}
