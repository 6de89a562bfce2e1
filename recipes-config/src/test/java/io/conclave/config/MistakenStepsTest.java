package io.conclave.config;

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

/**
 * The scenarios that our configurations, values and counters pass find the mistakes that configurations, values and
 * counters usually have, planted into one step of ours.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("proof")
class MistakenStepsTest {
    static Stream<Arguments> mistakes() {
        return Stream.of(
                Arguments.of(
                        "value is set again",
                        ConfigFaultsTest.valueReplacedByOthers(),
                        Mistake.sendsAgain("set /faults/value.*"),
                        "one call has set it twice"),
                Arguments.of(
                        "value is removed again",
                        ConfigFaultsTest.valueRemovedAndSetByOthers(),
                        Mistake.sendsAgain("set /faults/value.*"),
                        "one call has removed two values"),
                Arguments.of(
                        "comparison is left out after a lost reply",
                        ConfigFaultsTest.compareAndSet(),
                        Mistake.sendsAgain("set /faults/value.*"),
                        "winners ["),
                Arguments.of(
                        "publication is sent again",
                        ConfigFaultsTest.publicationReplacedByOthers(),
                        Mistake.sendsAgain("multi .*set /faults/config.*"),
                        "one call has published twice"),
                Arguments.of(
                        "addition overwrites what others have added",
                        ConfigFaultsTest.counter(),
                        Mistake.sendsAgain("set /faults/counter.*"),
                        "counted "),
                Arguments.of(
                        "addition counts twice",
                        ConfigFaultsTest.counter(),
                        Mistake.takesForRefused("set /faults/counter.*", RefusalReason.BAD_VERSION),
                        "counted "),
                Arguments.of(
                        "block of ids is reserved again",
                        ConfigFaultsTest.uniqueIds(),
                        Mistake.sendsAgain("set /faults/ids.*"),
                        "given twice"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("mistakes")
    void mistakeIsFound(String name, FaultDriver driver, Mistake mistake, String sign) {
        driver.find(mistake, sign);
    }
}
