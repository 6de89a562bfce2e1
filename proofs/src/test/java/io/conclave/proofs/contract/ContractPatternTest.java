package io.conclave.proofs.contract;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Which tests a pattern means. */
class ContractPatternTest {
    private static final String STANDALONE = "LockContractIT$Standalone#anyThreadMayRelease";
    private static final String MULTI = "MultiLockContractIT$Standalone#locksAreTakenInOneOrder";

    @Test
    void starMeansEveryTest() {
        assertTrue(matches("*", STANDALONE));
        assertTrue(matches("*", "MemoryLockContractTest#anyThreadMayRelease"));
    }

    @Test
    void classWithoutAMethodMeansAllItsTestsAndNoOtherClass() {
        assertTrue(matches("LockContractIT*", STANDALONE));
        assertFalse(matches("LockContractIT*", MULTI));
        assertFalse(matches("LockContractIT", STANDALONE));
        assertTrue(matches("*$Standalone", STANDALONE));
        assertFalse(matches("*$Embedded", STANDALONE));
    }

    @Test
    void methodsAndAlternativesNarrowAndWiden() {
        assertTrue(matches("*#anyThread*", STANDALONE));
        assertFalse(matches("*#anyThread", STANDALONE));
        assertTrue(matches("LockContractIT*,MultiLockContractIT*", MULTI));
        assertFalse(matches("", STANDALONE));
    }

    private static boolean matches(String pattern, String name) {
        return new ContractPattern(pattern).matches(name);
    }
}
