package io.conclave.barriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.WaitTimeoutException;
import io.conclave.testkit.contract.TestStore;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;

/**
 * A wait at a barrier that takes too long says what was waited for, in the words of the barrier, and shows the caller.
 */
class BarrierErrorsTest {
    private static final Duration SOON = Duration.ofMillis(50);

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Coordinator coordinator = store.connect();

    private static void assertLate(String path, String words, Executable wait) {
        WaitTimeoutException late = assertThrows(WaitTimeoutException.class, wait);
        assertEquals(path, late.path());
        assertEquals(SOON, late.waited());
        assertEquals(words, late.getMessage());
        assertInstanceOf(WaitTimeoutException.class, late.getCause());
        assertTrue(
                Arrays.stream(late.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().startsWith(BarrierErrorsTest.class.getName())),
                "the caller's stack");
    }

    @Test
    void barrierThatStaysSaysSo() throws Exception {
        Barrier barrier = Barrier.at(coordinator, "/barriers/maintenance");
        barrier.set();
        assertLate(
                "/barriers/maintenance",
                "The barrier /barriers/maintenance was not removed within 50 ms: it is still in place",
                () -> barrier.await(SOON));
    }

    @Test
    void countDownThatOthersHaveToFinishSaysSo() throws Exception {
        Latch start = Latch.at(coordinator, "/counts/start", 3);
        start.countDown();
        assertLate(
                "/counts/start",
                "The latch /counts/start was not open within 50 ms: others have to count",
                () -> start.await(SOON));
    }

    @Test
    void doubleBarrierThatLacksParticipantsSaysSo() {
        DoubleBarrier barrier = DoubleBarrier.at(coordinator, "/barriers/step", 3);
        assertLate(
                "/barriers/step",
                "Did not enter the double barrier /barriers/step within 50 ms: fewer than its 3 participants have come",
                () -> barrier.enter(SOON));
    }

    @Test
    void participantThatOthersDoNotFollowOutSaysSo() throws Exception {
        try (Coordinator other = store.connect()) {
            var inside = DoubleBarrier.at(other, "/barriers/step", 2).enterAsync();
            Participation here =
                    DoubleBarrier.at(coordinator, "/barriers/step", 2).enter();
            inside.get();
            assertLate(
                    "/barriers/step",
                    "Left the double barrier /barriers/step, but the others did not within 50 ms: some are still "
                            + "inside",
                    () -> here.leave(SOON));
        }
    }
}
