package io.conclave.line;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class LineEntryTest {
    @Test
    void namesOfCuratorAndOursAreRead() {
        String guid = "7c4bd8f4-9e4b-4e2b-8a3e-0d4f7c0b9a11";
        LineEntry entry = LineEntry.parse(LineEntry.nameOf(guid) + "0000000042").orElseThrow();
        assertEquals(42, entry.sequence());
        assertTrue(entry.isOf(guid));
        assertEquals(7, LineEntry.parse("lock-0000000007").orElseThrow().sequence());
        assertEquals(
                Integer.MIN_VALUE,
                LineEntry.parse("_c_x-lock--2147483648").orElseThrow().sequence());
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
            assertTrue(LineEntry.parse(name).isEmpty(), name);
        }
    }

    @Test
    void everyNumberThatAServerFormatsIsRead() {
        for (int sequence : new int[] {0, 7, Integer.MAX_VALUE, Integer.MIN_VALUE, -1_000_000_000, -999_999_999, -1}) {
            String name = LineEntry.nameOf("x") + String.format(Locale.ROOT, "%010d", sequence);
            assertEquals(sequence, LineEntry.parse(name).orElseThrow().sequence(), name);
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
                LineEntry.inOrder(names).stream().map(LineEntry::name).toList());
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
