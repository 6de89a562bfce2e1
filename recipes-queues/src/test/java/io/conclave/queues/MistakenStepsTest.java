package io.conclave.queues;

import io.conclave.error.RefusalReason;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.Mistake;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The scenarios that our queues pass find the mistakes that queues usually have, planted into one step of ours. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("proof")
class MistakenStepsTest {
    static Stream<Arguments> mistakes() {
        return Stream.of(
                Arguments.of(
                        "put is sent again",
                        QueueFaultsTest.put(),
                        Mistake.sendsAgainWithout(
                                "create /queues/faults/witnesses/.*", "multi .*create /queues/faults/_c_.*"),
                        "came out twice"),
                Arguments.of(
                        "take is taken for done",
                        QueueFaultsTest.take(),
                        Mistake.takesForDone("multi .*delete /queues/faults/_c_.*"),
                        // Another consumer gets the item again, or the next take of this one waits behind it.
                        "came out twice|lost wake-up"),
                Arguments.of(
                        "take overlooks an item that comes",
                        QueueFaultsTest.takeInVain(),
                        Mistake.doesNotHearOfChildren("/queues/faults"),
                        "it gave up"),
                Arguments.of(
                        "put with a delay is sent again",
                        DelayQueueFaultsTest.put(),
                        Mistake.sendsAgainWithout(
                                "create /queues/delayed-conclave/witnesses/.*",
                                "multi .*create /queues/delayed/queue-.*"),
                        "came out twice"),
                Arguments.of(
                        "take of an item that is due is taken for done",
                        DelayQueueFaultsTest.take(),
                        Mistake.takesForDone("multi .*delete /queues/delayed/queue-.*"),
                        "came out twice|lost wake-up"),
                Arguments.of(
                        "claim stops only when told",
                        ClaimFaultsTest.claimAndAcknowledge(),
                        Mistake.stopsOnlyWhenTold(),
                        "two have it"),
                Arguments.of(
                        "item is given back again",
                        ClaimFaultsTest.pastItsDeadline(),
                        Mistake.sendsAgain("multi .check /queues/claims/.*delete /queues/claims/claim-.*"),
                        "two have it|without a fault"),
                Arguments.of(
                        "acknowledgement is taken for done",
                        ClaimFaultsTest.claimAndAcknowledge(),
                        Mistake.takesForDone("multi .delete /queues/claims/_c_.*"),
                        "left"),
                Arguments.of(
                        "acknowledgements that went together are taken for done",
                        ClaimFaultsTest.acknowledgeTogether(),
                        Mistake.takesForDone("multi .delete /queues/claims/_c_.*delete /queues/claims/_c_.*"),
                        "left|claimed after it was acknowledged"),
                Arguments.of(
                        "acknowledgements that went together are taken for refused",
                        ClaimFaultsTest.acknowledgeTogether(),
                        Mistake.takesForRefused(
                                "multi .delete /queues/claims/_c_.*delete /queues/claims/_c_.*", RefusalReason.NO_NODE),
                        "GrantLost"),
                Arguments.of(
                        "dead letter is made of what another has claimed",
                        ClaimFaultsTest.deadLetter(),
                        Mistake.leavesOut("(create|delete) /queues/claims/claim-.*", "multi .*/dead/.*")
                                .and(Mistake.forgetsVersions("multi .*/dead/.*")),
                        "without a fault"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("mistakes")
    void mistakeIsFound(String name, FaultDriver driver, Mistake mistake, String sign) {
        driver.find(mistake, sign);
    }
}
