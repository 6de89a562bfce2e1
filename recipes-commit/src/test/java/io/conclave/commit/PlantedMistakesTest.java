package io.conclave.commit;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.commit.TextbookTransaction.Mistake;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultFoundError;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The fault driver finds the mistakes that two-phase commits usually have, and nothing in the same transaction without
 * them: so it would find them in ours.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("proof")
class PlantedMistakesTest {
    private static final String COORDINATOR = "coordinator";

    /** Everybody has the mistake; the victim has this role. */
    private static FaultDriver driver(String victim, String name, Mistake... mistakes) {
        return FaultDriver.of("planted: " + name + ", victim " + victim, run -> {
                    new TextbookTransaction(run, run.helper("founder"), mistakes).prepare();
                    Map<String, Boolean> outcomes = new ConcurrentHashMap<>();
                    for (String site : TextbookTransaction.SITES) {
                        (site.equals(victim) ? run.victim() : run.helper(site))
                                .start(me ->
                                        outcomes.put(site, new TextbookTransaction(run, me, mistakes).takePart(site)));
                    }
                    run.untilAtRest();
                    (victim.equals(COORDINATOR) ? run.victim() : run.helper(COORDINATOR))
                            .start(me ->
                                    outcomes.put(COORDINATOR, new TextbookTransaction(run, me, mistakes).coordinate()));
                    run.pause(Duration.ofMinutes(2));
                    if (new HashSet<>(outcomes.values()).size() > 1) {
                        run.violated("not atomic: " + outcomes);
                    }
                    if (run.isClean() && !outcomes.equals(Map.of("a", true, "b", true, "c", true, COORDINATOR, true))) {
                        run.violated("without a fault it is committed, but: " + outcomes);
                    }
                })
                .within(Duration.ofMinutes(5))
                .requestsAtMost(6, 100);
    }

    /**
     * The initiator is the victim; all sites are one helper, which finishes what has begun while the victim is away.
     */
    private static FaultDriver beginning(boolean recordsAreDeleted, TextbookBeginning.Mistake... mistakes) {
        FaultDriver driver = FaultDriver.of("planted: beginning, " + List.of(mistakes), run -> {
                    new TextbookBeginning(run, run.helper("founder"), mistakes).prepare();
                    AtomicInteger committed = new AtomicInteger();
                    run.helper("sites").start(me -> new TextbookBeginning(run, me, mistakes)
                            .finishWhateverBegins(committed, recordsAreDeleted));
                    run.untilAtRest();
                    List<Boolean> answer = new CopyOnWriteArrayList<>();
                    run.victim().start(me -> answer.add(new TextbookBeginning(run, me, mistakes).commit()));
                    run.pause(Duration.ofMinutes(2));
                    if (committed.get() > 1) {
                        run.violated("begun " + committed + " times");
                    }
                    if (!answer.isEmpty() && answer.get(0) != (committed.get() == 1)) {
                        run.violated("not the truth: " + answer + ", but committed " + committed + " times");
                    }
                })
                .within(Duration.ofMinutes(5))
                .requestsAtMost(6, 100)
                .leaving(path -> true);
        return recordsAreDeleted ? driver.explaining(OutcomeUnknownException.class, Fault.values()) : driver;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void beginningWithoutMistakesPasses(boolean recordsAreDeleted) {
        assertTrue(beginning(recordsAreDeleted).verify().total() > 50);
    }

    @ParameterizedTest
    @CsvSource({
        "BEGINS_AGAIN, true, begun 2 times",
        "ANSWERS_ABORT_FOR_AN_UNKNOWN, true, not the truth",
        "DOES_NOT_WITHDRAW, false, OutcomeUnknownException",
        "RECORD_IS_DELETED_TOO_EARLY, false, OutcomeUnknownException"
    })
    void mistakeAtTheBeginningIsFound(TextbookBeginning.Mistake mistake, boolean recordsAreDeleted, String by) {
        FaultFoundError found = assertThrows(FaultFoundError.class, () -> beginning(recordsAreDeleted, mistake)
                .verify());
        System.out.println(mistake + " found after " + found.runs() + " runs, with " + found.plan());
        assertTrue(found.runs() > 0, found::getMessage);
        assertTrue(found.getMessage().contains(by), found::getMessage);
    }

    @ParameterizedTest
    @CsvSource({"coordinator", "c"})
    void transactionWithoutMistakesPasses(String victim) {
        assertTrue(driver(victim, "transaction, no mistake").verify().total() > 50);
    }

    @ParameterizedTest
    @CsvSource({
        "DECISION_IS_SET, coordinator",
        "ABORTS_WITHOUT_A_DECISION, coordinator",
        "VOTES_AGAIN_AFTER_A_LOST_SESSION, c",
        "DECIDES_BY_THE_VOTES_ALONE, c"
    })
    void mistakeIsFound(Mistake mistake, String victim) {
        FaultFoundError found = assertThrows(FaultFoundError.class, () -> driver(victim, mistake.toString(), mistake)
                .verify());
        System.out.println(mistake + " found after " + found.runs() + " runs, with " + found.plan());
        assertTrue(found.runs() > 0, found::getMessage);
        assertTrue(found.getMessage().contains("not atomic"), found::getMessage);
    }
}
