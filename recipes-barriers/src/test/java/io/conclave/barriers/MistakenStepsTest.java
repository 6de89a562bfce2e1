package io.conclave.barriers;

import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.Mistake;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The scenarios that our barriers and latches pass find the mistakes that barriers and latches usually have,
 * planted into one step of ours.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("proof")
class MistakenStepsTest {
    static Stream<Arguments> mistakes() {
        return Stream.of(
                Arguments.of(
                        "barrier overlooks its removal",
                        BarrierFaultsTest.givingUp(),
                        Mistake.doesNotHearOfDeletion("/barriers/.*"),
                        "it gave up"),
                Arguments.of(
                        "barrier is set again",
                        BarrierFaultsTest.setAndRemovedByOthers(),
                        Mistake.sendsAgain("create /barriers/.*"),
                        "twice"),
                Arguments.of(
                        "barrier is removed again",
                        BarrierFaultsTest.removedAndSetByOthers(),
                        Mistake.sendsAgain("delete /barriers/.*"),
                        "removed it twice"),
                Arguments.of(
                        "count is made again",
                        BarrierFaultsTest.counting(),
                        Mistake.sendsAgainWithout("create /counts/faults/by/.*", "multi .*/counts/faults/of-3/c-.*"),
                        "counted twice"),
                Arguments.of(
                        "count is made again in a later latch",
                        BarrierFaultsTest.countingAndDeletedByOthers(),
                        Mistake.sendsAgain("multi .*/counts/faults/of-3/c-.*"),
                        "one call has counted twice"),
                Arguments.of(
                        "latch is deleted again",
                        BarrierFaultsTest.deletedAndMadeByOthers(),
                        Mistake.sendsAgain("multi .*delete /counts/faults/of-3/c-.*"),
                        "in a later latch"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("mistakes")
    void mistakeIsFound(String name, FaultDriver driver, Mistake mistake, String sign) {
        driver.find(mistake, sign);
    }
}
