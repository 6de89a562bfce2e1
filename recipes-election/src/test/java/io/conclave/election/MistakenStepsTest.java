package io.conclave.election;

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
 * The scenarios that our election passes find the mistakes that elections usually have, planted into one step of ours.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("proof")
class MistakenStepsTest {
    static Stream<Arguments> mistakes() {
        return Stream.of(
                Arguments.of(
                        "leader stops only when told",
                        ElectionFaultsTest.leader(),
                        Mistake.stopsOnlyWhenTold(),
                        "two hold at the same time|held the lock at the same time|TOKEN_WENT_BACK"),
                Arguments.of(
                        "leader overlooks that it was thrown out",
                        ElectionFaultsTest.leader(),
                        Mistake.doesNotHearOfDeletion("/elections/faults/.*-.*"),
                        "lost wake-up|its znode is gone"),
                Arguments.of(
                        "candidate enters again",
                        ElectionFaultsTest.leader(),
                        Mistake.sendsAgain("create /elections/faults/.*"),
                        "lost wake-up"),
                Arguments.of(
                        "update does not look at the own place",
                        ElectionFaultsTest.leaderThatUpdates(),
                        Mistake.leavesOut(
                                "check /elections/faults/.*", "multi \\[check [^;]*; set /elections/faults/leader.*"),
                        "has overwritten what the leader wrote"),
                Arguments.of(
                        "update that was not answered counts as written",
                        ElectionFaultsTest.leaderThatUpdates(),
                        Mistake.takesForDone("multi \\[check [^;]*; set /elections/faults/leader.*"),
                        "others see"),
                Arguments.of(
                        "observer does not repeat a lost read",
                        ElectionFaultsTest.observer(),
                        Mistake.doesNotHearOfLostReply("get /elections/faults/leader.*"),
                        "the observer was told last"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("mistakes")
    void mistakeIsFound(String name, FaultDriver driver, Mistake mistake, String sign) {
        driver.find(mistake, sign);
    }
}
