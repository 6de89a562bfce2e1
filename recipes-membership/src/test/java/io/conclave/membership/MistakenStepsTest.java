package io.conclave.membership;

import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.Mistake;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The scenarios that our groups pass find the mistakes that groups usually have, planted into one step of ours. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("proof")
class MistakenStepsTest {
    static Stream<Arguments> mistakes() {
        return Stream.of(
                Arguments.of(
                        "group is made again",
                        GroupFaultsTest.madeAndDeletedByOthers(),
                        Mistake.sendsAgain("create /groups/.*"),
                        "x"),
                Arguments.of(
                        "member overlooks that it was thrown out",
                        GroupFaultsTest.memberThatStays(),
                        Mistake.doesNotHearOfDeletion("/groups/.*"),
                        "is not seen as it should be"),
                Arguments.of(
                        "join does not look again when its reply is lost",
                        GroupFaultsTest.takenId(),
                        Mistake.doesNotHearOfLostReply("get /groups/.*"),
                        "lost wake-up"),
                Arguments.of(
                        "settling group does not repeat a lost list",
                        GroupFaultsTest.settling(),
                        Mistake.doesNotHearOfLostReply("children /groups/.*"),
                        "lost wake-up"),
                Arguments.of(
                        "kept znode does not hear that it is deleted",
                        KeptNodeFaultsTest.staying(true),
                        Mistake.doesNotHearOfDeletion("/kept/.*"),
                        "is not there as it should be"),
                Arguments.of(
                        "kept znode takes a deletion that was not answered for done",
                        KeptNodeFaultsTest.closing(false),
                        Mistake.takesForDone("delete /kept/node.*"),
                        "is there still"),
                Arguments.of(
                        "member holds its partitions until it is told of the loss",
                        PartitionerFaultsTest.leaving(),
                        Mistake.stopsOnlyWhenTold(),
                        "two hold at the same time|held the lock at the same time|came after"),
                Arguments.of(
                        "member enters a partition's line again",
                        PartitionerFaultsTest.leaving(),
                        Mistake.sendsAgain("create /shards/faults/partitions/.*"),
                        "not all partitions have a holder|left behind|lost wake-up"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("mistakes")
    void mistakeIsFound(String name, FaultDriver driver, Mistake mistake, String sign) {
        driver.find(mistake, sign);
    }
}
