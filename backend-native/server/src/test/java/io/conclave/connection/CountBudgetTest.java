package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class CountBudgetTest {
    private final ManualTimeSource time = new ManualTimeSource();
    private final CountBudget budget = new CountBudget(time, 1000);

    @Test
    void smallCountsAddUp() {
        for (int i = 0; i < 10; i++) {
            assertTrue(budget.spend(100));
        }
        assertFalse(budget.spend(1));
        time.advance(Duration.ofMillis(100));
        assertTrue(budget.spend(100));
        assertFalse(budget.spend(1));
    }

    @Test
    void behindALargeCountOthersWaitAsLong() {
        assertTrue(budget.spend(5000));
        time.advance(Duration.ofSeconds(4));
        assertFalse(budget.spend(1));
        time.advance(Duration.ofMillis(1));
        assertTrue(budget.spend(1));
    }

    @Test
    void whatIsNotUsedIsKeptForASecond() {
        time.advance(Duration.ofHours(1));
        assertTrue(budget.spend(1000));
        assertFalse(budget.spend(1));
    }

    @Test
    void itMayHaveNoBound() {
        CountBudget unbounded = new CountBudget(time, Long.MAX_VALUE);
        for (int i = 0; i < 1000; i++) {
            assertTrue(unbounded.spend(1L << 40));
        }
    }
}
