package io.conclave.line;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class LineEntryTest {
    private static final Set<EntryKind> LOCKS = Set.of(EntryKind.MUTEX);
    private static final EntryKind READ = EntryKind.curator("__READ__");
    private static final EntryKind WRITE = EntryKind.curator("__WRIT__");

    private static Optional<LineEntry> parse(String name) {
        return LineEntry.parse(LOCKS, name);
    }

    @Test
    void namesOfCuratorAndOursAreRead() {
        String guid = "7c4bd8f4-9e4b-4e2b-8a3e-0d4f7c0b9a11";
        LineEntry entry = LineEntry.parse(LOCKS, EntryKind.MUTEX.nameOf(guid) + "0000000042")
                .orElseThrow();
        assertEquals(42, entry.sequence());
        assertTrue(entry.isOf(guid));
        assertEquals(7, parse("lock-0000000007").orElseThrow().sequence());
        assertEquals(
                Integer.MIN_VALUE, parse("_c_x-lock--2147483648").orElseThrow().sequence());
    }

    @Test
    void otherNamesAreNoPlaces() {
        for (String name : List.of(
                "",
                "notes",
                "lock-",
                "lock-12",
                "block-0000000001",
                "_c_x-lock-00000000x1",
                "_c_x-lock-9999999999",
                "lock-0000000001-x")) {
            assertTrue(parse(name).isEmpty(), name);
        }
    }

    @Test
    void aNameIsReadAsThePatternOfNamesSays() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String[] parts = {"_c_", "x", "-", "lock", "-lock-", "lock-", "0", "12345", "0000000042", "9", "-1", "a", ""};
        for (int i = 0; i < 20_000; i++) {
            StringBuilder name = new StringBuilder();
            for (int part = random.nextInt(7); part >= 0; part--) {
                name.append(parts[random.nextInt(parts.length)]);
            }
            Matcher matcher =
                    Pattern.compile("(?:.*-)?lock-([0-9]{10}|-[0-9]{9,10})").matcher(name);
            boolean isOne = matcher.matches() && matcher.start(1) == name.lastIndexOf("lock-") + 5;
            assertEquals(
                    isOne ? Optional.of(matcher.group(1)) : Optional.empty(),
                    EntryKind.MUTEX.digitsOf(name.toString()),
                    name + " with the seed " + seed);
        }
    }

    @Test
    void everyNumberThatAServerFormatsIsRead() {
        for (int sequence : new int[] {0, 7, Integer.MAX_VALUE, Integer.MIN_VALUE, -1_000_000_000, -999_999_999, -1}) {
            String name = EntryKind.MUTEX.nameOf("x") + String.format(Locale.ROOT, "%010d", sequence);
            assertEquals(sequence, parse(name).orElseThrow().sequence(), name);
        }
    }

    @Test
    void sequenceComesBeforeNameAndSurvivesTheWrap() {
        List<String> names = List.of(
                "_c_b-lock--2147483648",
                "_c_z-lock-2147483646",
                "other",
                "_c_a-lock--2147483647",
                "_c_y-lock-2147483647");
        assertEquals(
                List.of(
                        "_c_z-lock-2147483646",
                        "_c_y-lock-2147483647",
                        "_c_b-lock--2147483648",
                        "_c_a-lock--2147483647"),
                LineEntry.inOrder(LOCKS, names).stream().map(LineEntry::name).toList());
    }

    @Test
    void namesThatSpanMoreThanHalfOfAllNumbersAreStillOrdered() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            names.add(EntryKind.MUTEX.nameOf("x" + i) + String.format(Locale.ROOT, "%010d", random.nextInt()));
        }
        List<LineEntry> line = LineEntry.inOrder(LOCKS, names);
        assertEquals(1000, line.size());
        Collections.shuffle(names, random);
        assertEquals(line, LineEntry.inOrder(LOCKS, names), "seed " + seed);
    }

    @Test
    void orderIsThatOfTheDifferencesWhereverTheLineBegins() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            int begin = random.nextInt();
            List<Integer> expected = new ArrayList<>();
            List<String> names = new ArrayList<>();
            int offset = 0;
            while (offset >= 0 && expected.size() < 50) { // until 2^31
                expected.add(begin + offset);
                names.add(EntryKind.MUTEX.nameOf("x") + String.format(Locale.ROOT, "%010d", begin + offset));
                offset += 1 + random.nextInt(round % 2 == 0 ? 3 : 100_000_000);
            }
            Collections.shuffle(names, random);
            assertEquals(
                    expected,
                    LineEntry.inOrder(LOCKS, names).stream()
                            .map(LineEntry::sequence)
                            .toList(),
                    "seed " + seed);
        }
    }

    @Test
    void readersAndWritersStandInOneLineByCuratorsNames() {
        assertEquals("_c_x-__WRIT__", WRITE.nameOf("x"));
        List<LineEntry> line = LineEntry.inOrder(
                Set.of(READ, WRITE),
                List.of(
                        "_c_b-__READ__0000000003",
                        "_c_a-__WRIT__0000000002",
                        "_c_z-__READ__0000000001",
                        "_c_y-lock-0000000000"));
        assertEquals(List.of(1, 2, 3), line.stream().map(LineEntry::sequence).toList());
        assertEquals(
                List.of(READ, WRITE, READ), line.stream().map(LineEntry::kind).toList());
        assertTrue(line.get(1).isOf("a"));
    }

    @Test
    void ownPlacesAreThoseOfTheGuidAndTheKind() {
        List<String> names = List.of(
                "_c_a-__READ__0000000004",
                "_c_a-__WRIT__0000000001",
                "_c_a-__READ__0000000002",
                "_c_b-__READ__0000000003");
        assertEquals(
                List.of("_c_a-__READ__0000000002", "_c_a-__READ__0000000004"),
                LineEntry.of("a", Set.of(READ), names).stream()
                        .map(LineEntry::name)
                        .toList());
    }

    @Test
    void layoutOfKazooCanBeSaid() {
        EntryKind kazoo = EntryKind.kazoo("__lock__");
        assertEquals("c0ffee__lock__", kazoo.nameOf("c0ffee"));
        LineEntry entry =
                LineEntry.parse(Set.of(kazoo), "c0ffee__lock__0000000005").orElseThrow();
        assertEquals(5, entry.sequence());
        assertTrue(entry.isOf("c0ffee"));
        assertTrue(LineEntry.parse(Set.of(kazoo), "c0ffee__rlock__0000000005").isEmpty());
    }

    @Test
    void partsThatMakeNamesUnreadableAreRefused() {
        for (String marker : List.of("", "lock-0", "a/b-")) {
            assertThrows(IllegalArgumentException.class, () -> EntryKind.curator(marker), marker);
        }
    }

    @Test
    void tableOfStatesHasNoWayBack() {
        for (ContenderState from : ContenderState.values()) {
            assertEquals(from == ContenderState.WAITING, from.mayBecome(from), from.toString());
            for (ContenderState to : ContenderState.values()) {
                if (to.ordinal() < from.ordinal()) {
                    assertEquals(false, from.mayBecome(to), from + " -> " + to);
                }
            }
        }
    }
}
