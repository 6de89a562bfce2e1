package io.conclave.testkit.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.grant.FencingToken;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.history.LockHistoryChecker.Rule;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LockHistoryCheckerTest {
    private static final Duration SESSION = Duration.ofSeconds(10);

    private final ManualTimeSource time = new ManualTimeSource();
    private final LockHistory history = new LockHistory(time);

    @Test
    void anEmptyHistoryIsClean() {
        LockHistoryChecker.assertClean(history);
    }

    @Test
    void turnsOneAfterTheOtherAreClean() {
        queue("a", 1);
        queue("b", 2);
        queue("c", 3);
        turn("a", 1);
        turn("b", 2);
        turn("c", 3);
        LockHistoryChecker.assertClean(history);
    }

    @Test
    void manyRandomCleanHistoriesAreClean() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        long zxid = 0;
        for (int i = 0; i < 500; i++) {
            String contender = "c" + i;
            queue(contender, ++zxid);
            if (random.nextInt(5) == 0) {
                history.abandoned(contender);
            } else {
                turn(contender, zxid);
            }
        }
        assertEquals(List.of(), LockHistoryChecker.check(history), "seed " + seed);
    }

    @Test
    void twoHoldersAtOnceAreFound() {
        grant("a", 1);
        step();
        grant("b", 2);
        step();
        history.released("a");
        history.released("b");
        assertEquals(List.of(Rule.OVERLAP), rules());
        String report = LockHistoryChecker.check(history).get(0).report();
        assertTrue(
                report.contains("a (token " + new FencingToken(0, 1) + ", from 0.000 ms to its end at 2.000 ms)"),
                report);
    }

    @Test
    void twoHoldersAtOnceAreFoundAlsoWhenTheClockStands() {
        grant("a", 1);
        grant("b", 2);
        history.released("a");
        history.released("b");
        assertEquals(List.of(Rule.OVERLAP), rules());
    }

    @Test
    void aLongHolderOverlapsEveryoneWithinNotOnlyTheNext() {
        grant("long", 1);
        step();
        turn("b", 2);
        turn("c", 3);
        history.released("long");
        assertEquals(List.of(Rule.OVERLAP, Rule.OVERLAP), rules());
    }

    @Test
    void aHolderThatNeverReleasesHoldsUntilItsDeadlineAndNoLonger() {
        grant("stopped", 1);
        time.advance(SESSION);
        turn("next", 2);
        history.lost("stopped");
        assertEquals(List.of(), rules());
    }

    @Test
    void aGrantWithinTheDeadlineOfAStoppedHolderIsFound() {
        grant("stopped", 1);
        time.advance(SESSION.minusNanos(1));
        turn("next", 2);
        assertEquals(List.of(Rule.OVERLAP), rules());
    }

    @Test
    void anExtendedDeadlineCounts() {
        grant("holder", 1);
        time.advance(SESSION.dividedBy(2));
        history.extended("holder", SESSION);
        time.advance(SESSION.dividedBy(2));
        turn("next", 2);
        assertEquals(List.of(Rule.OVERLAP), rules());
    }

    @Test
    void aLossEndsTheHold() {
        grant("a", 1);
        step();
        history.lost("a");
        turn("b", 2);
        history.released("a");
        assertEquals(List.of(), rules());
    }

    @Test
    void aTokenThatDecreasesIsFound() {
        turn("a", 5);
        turn("b", 4);
        assertEquals(List.of(Rule.TOKEN_WENT_BACK), rules());
    }

    @Test
    void aTokenIsComparedWithTheLargestBeforeNotWithTheLast() {
        turn("a", 5);
        turn("b", 3);
        turn("c", 4);
        assertEquals(List.of(Rule.TOKEN_WENT_BACK, Rule.TOKEN_WENT_BACK), rules());
    }

    @Test
    void aTokenGivenTwiceIsFound() {
        turn("a", 5);
        turn("b", 5);
        assertEquals(List.of(Rule.TOKEN_REPEATED), rules());
    }

    @Test
    void aLargerGenerationMakesUpForARewoundZxid() {
        grant("a", 900);
        history.released("a");
        history.granted("b", new FencingToken(1, 3), SESSION);
        history.released("b");
        assertEquals(List.of(), rules());
    }

    @Test
    void aWaiterOvertakenIsFound() {
        queue("a", 1);
        queue("b", 2);
        turn("b", 2);
        turn("a", 3);
        assertEquals(List.of(Rule.OVERTAKEN), rules());
        String report = LockHistoryChecker.check(history).get(0).report();
        assertTrue(report.startsWith("a (created by zxid 1) still waited when the later b"), report);
    }

    @Test
    void aWaiterThatGaveUpIsNotOvertaken() {
        queue("a", 1);
        queue("b", 2);
        history.abandoned("a");
        turn("b", 2);
        assertEquals(List.of(), rules());
    }

    @Test
    void aWaiterThatIsOvertakenAndNeverGrantedIsFound() {
        queue("a", 1);
        queue("b", 2);
        turn("b", 2);
        assertEquals(List.of(Rule.OVERTAKEN), rules());
    }

    @Test
    void aWaiterThatLearnsLateOfItsLossWasNotOvertaken() {
        queue("stopped", 1);
        queue("b", 2);
        turn("b", 2);
        history.lost("stopped");
        assertEquals(List.of(), rules());
    }

    @Test
    void aGrantThatIsOverWhenItsOwnerWakesBreaksNothing() {
        queue("stopped", 1);
        queue("b", 2);
        grant("b", 2);
        history.granted("stopped", new FencingToken(0, 1), Duration.ZERO);
        history.lost("stopped");
        assertEquals(List.of(), rules());
    }

    @Test
    void aRecordThatMakesNoSenseIsFound() {
        history.released("a");
        grant("b", 1);
        history.released("b");
        grant("b", 2);
        assertEquals(List.of(Rule.NONSENSE, Rule.NONSENSE), rules());
    }

    @Test
    void theReportHasAllViolationsAndTheHistory() {
        turn("a", 5);
        turn("b", 5);
        String report = assertThrows(AssertionError.class, () -> LockHistoryChecker.assertClean(history))
                .getMessage();
        assertTrue(report.contains("TOKEN_REPEATED: a (token " + new FencingToken(0, 5)), report);
        assertTrue(report.contains("1.000 ms a RELEASED"), report);
    }

    private List<Rule> rules() {
        return LockHistoryChecker.check(history).stream()
                .map(LockHistoryChecker.Violation::rule)
                .toList();
    }

    private void queue(String contender, long zxid) {
        history.requested(contender);
        history.enqueued(contender, zxid);
    }

    private void turn(String contender, long zxid) {
        grant(contender, zxid);
        step();
        history.released(contender);
    }

    private void grant(String contender, long zxid) {
        history.granted(contender, new FencingToken(0, zxid), SESSION);
    }

    private void step() {
        time.advance(Duration.ofMillis(1));
    }
}
