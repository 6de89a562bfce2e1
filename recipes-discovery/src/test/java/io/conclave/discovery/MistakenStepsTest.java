package io.conclave.discovery;

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
 * The scenarios that our registrations, providers and names pass find the mistakes that such recipes usually have,
 * planted into one step of ours.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("proof")
class MistakenStepsTest {
    static Stream<Arguments> mistakes() {
        return Stream.of(
                Arguments.of(
                        "instance overlooks that it was thrown out",
                        DiscoveryFaultsTest.stayingRegistration(),
                        Mistake.doesNotHearOfDeletion("/services/.*"),
                        "is not seen as it should be"),
                Arguments.of(
                        "instance takes a deletion that was not answered for done",
                        DiscoveryFaultsTest.registration(),
                        Mistake.takesForDone("delete /services/.*"),
                        "left behind|lost wake-up"),
                Arguments.of(
                        "provider does not repeat a lost read",
                        DiscoveryFaultsTest.provider(),
                        Mistake.doesNotHearOfLostReply("get /services/.*"),
                        "the provider ends with"),
                Arguments.of(
                        "name is bound again",
                        DiscoveryFaultsTest.nameBoundByOthers(),
                        Mistake.sendsAgain("set /names/.*"),
                        "one call has bound the name twice"),
                Arguments.of(
                        "watch of a name does not repeat a lost read",
                        DiscoveryFaultsTest.watchOfAName(),
                        Mistake.doesNotHearOfLostReply("get /names/.*"),
                        "the watch ends with"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("mistakes")
    void mistakeIsFound(String name, FaultDriver driver, Mistake mistake, String sign) {
        driver.find(mistake, sign);
    }
}
