package io.conclave.consensus.member;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.Origin;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** In which order a leader proposes what waits. */
class ProposalLineTest {
    private static final int LARGE = 1000;
    private static final int ALL = 1 << 20;

    private final ProposalLine line = new ProposalLine(LARGE);
    private final long[] sequences = new long[4];

    private void add(int from, int bytes) {
        sequences[from]++;
        line.add(from, new LogEntry(LogEntryKind.APPLICATION, new Origin(from, 1, sequences[from]), new byte[bytes]));
    }

    private List<String> small(int maxBytes) {
        List<String> batch =
                line.nextSmall(maxBytes).stream().map(ProposalLineTest::nameOf).toList();
        line.remove();
        return batch;
    }

    private String large() {
        String entry = line.nextLarge(0).stream()
                .map(ProposalLineTest::nameOf)
                .findFirst()
                .orElse("none");
        line.remove();
        return entry;
    }

    private static String nameOf(LogEntry entry) {
        return entry.origin().member() + "." + entry.origin().sequence();
    }

    @Test
    void smallEntriesDoNotWaitForTheLargeOnesOfOtherMembers() {
        for (int i = 0; i < 10; i++) {
            add(1, LARGE);
        }
        add(2, 10);
        add(3, 10);

        assertEquals(List.of("2.1", "3.1"), small(ALL));
        assertFalse(line.hasSmall());
        assertEquals("1.1", large());
    }

    @Test
    void theEntriesOfOneMemberKeepTheirOrder() {
        add(1, 10);
        add(1, LARGE);
        add(1, 10);
        add(1, LARGE);

        assertEquals(List.of("1.1"), small(ALL));
        assertFalse(line.hasSmall());
        assertEquals("1.2", large());
        assertEquals(List.of("1.3"), small(ALL));
        assertEquals("1.4", large());
        assertFalse(line.hasLarge());
        assertFalse(line.hasSmall());
    }

    /** Else what it has behind its large entry would wait for all of theirs. */
    @Test
    void aMemberWithSmallEntriesHasItsTurnWithALargeOne() {
        for (int i = 0; i < 4; i++) {
            add(1, LARGE);
            add(3, LARGE);
        }
        add(2, 10);
        add(2, LARGE);
        add(2, 10);

        assertEquals("1.1", large());
        assertEquals(List.of("2.1"), small(ALL));
        assertEquals("2.2", large());
        assertEquals(List.of("2.3"), small(ALL));
        assertEquals("3.1", large());
        assertEquals("1.2", large());
        assertEquals("3.2", large());
    }

    @Test
    void ofMoreThanABatchOfSmallEntriesThoseOfEachMemberHaveTheirTurn() {
        for (int i = 0; i < 6; i++) {
            add(1, 100);
        }
        add(2, 100);
        int two = 2 * (100 + LogEntry.OVERHEAD_BYTES);

        assertEquals(List.of("1.1", "1.2"), small(two));
        assertEquals(List.of("2.1", "1.3"), small(two));
        assertEquals(List.of("1.4", "1.5"), small(two));
        assertEquals(List.of("1.6"), small(two));
    }

    @Test
    void whatIsLargerThanABatchGoesAlone() {
        add(1, 100);
        add(1, 100);

        assertEquals(List.of("1.1"), small(10));
        assertEquals(List.of("1.2"), small(10));
    }

    @Test
    void whatWasOnlyLookedAtStays() {
        add(1, 10);
        add(2, LARGE);
        line.nextSmall(ALL);
        line.nextLarge(0);

        assertEquals(List.of("1.1"), small(ALL));
        assertEquals("2.1", large());
    }

    @Test
    void whatAMemberHasForwardedIsForgottenWithItsLink() {
        add(1, 10);
        add(2, 10);
        add(2, LARGE);
        line.forget(2);

        assertFalse(line.hasLarge());
        assertTrue(line.hasSmall());
        assertEquals(List.of("1.1"), small(ALL));
    }

    @Test
    void whatIsRefusedLeavesItsPlaceToAnEntryWithoutEffect() {
        add(1, 10);
        add(1, 20);
        add(1, LARGE);
        add(2, 10);
        line.add(3, new LogEntry(LogEntryKind.FEATURE_LEVEL, new Origin(3, 1, 1), new byte[4]));
        line.nextSmall(ALL);
        assertEquals(
                Map.of(1, List.of(new Origin(1, 1, 1), new Origin(1, 1, 2)), 2, List.of(new Origin(2, 1, 1))),
                line.refuse());

        line.nextSmall(ALL);
        assertEquals(Map.of(), line.refuse(), "nothing is refused twice");
        assertEquals(List.of("1.1", "1.2", "2.1", "3.1"), small(ALL));
        line.nextLarge(ALL);
        assertEquals(Map.of(1, List.of(new Origin(1, 1, 3))), line.refuse());
        assertFalse(line.hasLarge());
        assertEquals(List.of("1.3"), small(ALL));
    }
}
