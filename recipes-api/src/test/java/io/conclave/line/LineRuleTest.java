package io.conclave.line;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LineRuleTest {
    private static final EntryKind READ = EntryKind.curator("__READ__");
    private static final EntryKind WRITE = EntryKind.curator("__WRIT__");
    private static final Set<EntryKind> SHARED = Set.of(READ, WRITE);
    /** As a shared lock will say it. */
    private static final LineRole MUTEX = LineRole.mutex("lock");

    private static final LineRole READER = new LineRole("lock", READ, SHARED, (before, own) -> before.stream()
            .filter(entry -> entry.kind().equals(WRITE))
            .reduce((first, second) -> second));

    private static final LineRole WRITER = new LineRole("lock", WRITE, SHARED, LineRule.immediatePredecessor());

    private static LineEntry entry(EntryKind kind, int sequence) {
        return new LineEntry(kind.nameOf("x") + sequence, kind, sequence);
    }

    private static final LineEntry FIRST = entry(EntryKind.MUTEX, 1);
    private static final LineEntry SECOND = entry(EntryKind.MUTEX, 2);
    private static final LineEntry THIRD = entry(EntryKind.MUTEX, 3);

    @Test
    void headOfAMutexGoesAndOthersWaitForTheOneBeforeThem() {
        assertEquals(Optional.empty(), MUTEX.predecessor(List.of(), FIRST));
        assertEquals(Optional.of(FIRST), MUTEX.predecessor(List.of(FIRST), SECOND));
        assertEquals(Optional.of(SECOND), MUTEX.predecessor(List.of(FIRST, SECOND), THIRD));
    }

    @Test
    void lookIsSparedOnlyBehindTheHead() {
        assertTrue(MUTEX.isNextAfter(FIRST, List.of(FIRST), SECOND));
        assertFalse(MUTEX.isNextAfter(SECOND, List.of(FIRST, SECOND), THIRD));
    }

    @Test
    void lookIsNotSparedIfTheRuleWaitsForTheOthersAsWell() {
        LineRule lastOfAll = (before, own) -> before.isEmpty() ? Optional.empty() : Optional.of(before.get(0));
        LineRole role = new LineRole("lock", EntryKind.MUTEX, Set.of(EntryKind.MUTEX), lastOfAll);
        assertFalse(role.isNextAfter(FIRST, List.of(FIRST, SECOND), THIRD));
    }

    @Test
    void readerWaitsForTheNearestWriterBeforeItAndWriterForAnybody() {
        LineEntry writer = entry(WRITE, 1);
        LineEntry nearest = entry(WRITE, 2);
        LineEntry reader = entry(READ, 3);
        LineEntry own = entry(READ, 4);
        assertEquals(Optional.of(nearest), READER.predecessor(List.of(writer, nearest, reader), own));
        assertEquals(Optional.empty(), READER.predecessor(List.of(reader), own));
        assertEquals(Optional.of(reader), WRITER.predecessor(List.of(writer, reader), entry(WRITE, 4)));
    }

    @Test
    void lookIsNeverSparedInALineOfSeveralKinds() {
        LineEntry writer = entry(WRITE, 1); // may vanish to go on as a reader in the same place
        assertFalse(WRITER.isNextAfter(writer, List.of(writer), entry(WRITE, 2)));
    }

    @Test
    void ruleThatNamesAnEntryNotAheadOfTheContenderIsRejected() {
        LineRole role =
                new LineRole("lock", EntryKind.MUTEX, Set.of(EntryKind.MUTEX), (before, own) -> Optional.of(own));
        assertThrows(IllegalStateException.class, () -> role.predecessor(List.of(), FIRST));
    }

    @Test
    void roleMustStandInItsOwnLine() {
        LineRule rule = LineRule.immediatePredecessor();
        assertThrows(IllegalArgumentException.class, () -> new LineRole("lock", READ, Set.of(WRITE), rule));
    }
}
