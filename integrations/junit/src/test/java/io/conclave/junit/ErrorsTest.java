package io.conclave.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;

/** Bad input gets an error that names it and the rule. */
class ErrorsTest {
    private static final Map<String, String> MESSAGES =
            EngineTestKit.engine("junit-jupiter")
                    .selectors(selectClass(ErrorCases.class))
                    .execute()
                    .testEvents()
                    .failed()
                    .stream()
                    .collect(Collectors.toMap(
                            event -> event.getTestDescriptor().getDisplayName().replaceFirst("\\(.*", ""),
                            event -> event.getRequiredPayload(TestExecutionResult.class)
                                    .getThrowable()
                                    .orElseThrow()
                                    .getMessage()));

    @Test
    void serversHaveNoManualClock() {
        assertEquals(
                "Cannot give ErrorCases.clockOfServers a ManualTimeSource: servers = 1, and only a store in memory has"
                        + " one; set servers to 0, or leave the parameter out",
                MESSAGES.get("clockOfServers"));
    }

    @Test
    void serversAreNoStoreInMemory() {
        assertContains(
                "a MemoryStore: servers = 1, and only a store in memory has one; set servers to 0", "storeOfServers");
    }

    @Test
    void storeInMemoryHasNoServers() {
        assertContains("servers = 0 is a store in memory; set servers to 1 or 3", "serversOfAStore");
    }

    @Test
    void numberOfServersIsChecked() {
        assertContains("Invalid number of servers -1: it must be 0", "negativeServers");
    }

    @Test
    void unknownParameterIsLeftToOthers() {
        assertContains(
                "No ParameterResolver registered for parameter [io.conclave.locks.DistributedLock", "unknownType");
    }

    @Test
    void builderRefusesWhatDoesNotGoTogether() {
        ConclaveExtension.Builder builder =
                ConclaveExtension.builder().servers(3).manualClock();
        String message =
                assertThrows(IllegalArgumentException.class, builder::build).getMessage();
        assertTrue(message.contains("a manual clock and 3 servers"), message);
    }

    private static void assertContains(String part, String test) {
        String message = MESSAGES.get(test);
        assertTrue(message.contains(part), () -> test + ": " + message);
    }
}
