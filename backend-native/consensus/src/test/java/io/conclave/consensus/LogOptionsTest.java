package io.conclave.consensus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.core.CoreOptions;
import org.junit.jupiter.api.Test;

/** Options that do not fit each other are refused by name. */
class LogOptionsTest {
    private static LogOptionsBuilder options() {
        return LogOptions.builder(() -> 1, () -> 1, Runnable::run, (delayMs, action) -> {}, cause -> {})
                .segmentBytes(256 << 20);
    }

    @Test
    void aBatchLargerThanAMessageBetweenMembersIsRefused() {
        assertEquals(64 << 20, options().maxBatchBytes(64 << 20).build().maxBatchBytes());
        IllegalArgumentException e = assertThrows(
                IllegalArgumentException.class,
                () -> options().maxBatchBytes((64 << 20) + 1).build());
        assertTrue(e.getMessage().contains("maxBatchBytes 67108865 must be at most 67108864"), e.getMessage());
    }

    @Test
    void theWindowOfTheLogFollowsTheHeap() {
        CoreOptions small = CoreOptions.DEFAULT.withWindow(4 << 20);
        assertEquals(4 << 20, small.windowBytes());
        assertTrue(small.tailBytes() + small.inFlightBytes() <= small.windowBytes());
        assertEquals(CoreOptions.DEFAULT, CoreOptions.DEFAULT.withWindow(1L << 40));
    }
}
