package io.conclave.consensus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AddressLinesTest {
    private final AddressLines<String> lines = new AddressLines<>();

    private void add(String... waiting) {
        for (String one : waiting) {
            lines.add(addressOf(one), one);
        }
    }

    /** Its first letter. */
    private static String addressOf(String waiting) {
        return waiting.substring(0, 1);
    }

    private List<String> takeAll() {
        List<String> taken = new ArrayList<>();
        for (Optional<String> next = lines.next(); next.isPresent(); next = lines.next()) {
            next.ifPresent(taken::add);
        }
        return taken;
    }

    @Test
    void addressesTakeTurnsAndTheirOwnGoInTheOrderInWhichTheyCame() {
        add("a1", "a2", "a3", "b1", "c1", "c2");
        assertEquals(Optional.of("a1"), lines.next());
        add("d1", "b2");
        assertEquals(List.of("b1", "c1", "a2", "d1", "b2", "c2", "a3"), takeAll());
        assertTrue(lines.isEmpty());
    }

    @Test
    void aLineWhoseFirstMayNotGoKeepsItsTurn() {
        add("a1", "a2", "b1", "b2");
        assertEquals(Optional.of("b1"), lines.peek(one -> !one.startsWith("a")));
        assertEquals(Optional.of("b1"), lines.next(one -> !one.startsWith("a")));
        assertEquals(Optional.empty(), lines.next(one -> one.startsWith("c")));
        assertEquals(List.of("a1", "b2", "a2"), takeAll());
    }

    @Test
    void oneThatWaitsNoMoreIsTakenOut() {
        add("a1", "a2", "b1");
        lines.removeIf("a", "a1"::equals);
        lines.removeIf("a", "b1"::equals);
        lines.removeIf("c", any -> true);
        assertEquals(2, lines.count());
        lines.removeIf("b", "b1"::equals);
        assertEquals(List.of("a2"), takeAll());
        assertEquals(0, lines.count());
    }

    @Test
    void newOnesAreCountedAndWhatGoesOnIsNot() {
        add("a1", "b1", "b2");
        lines.addFurther("b", "b0");
        assertEquals(3, lines.count());
        assertEquals(2, lines.count("b"));
        assertEquals(0, lines.count("c"));
        takeAll();
        assertEquals(0, lines.count());
        assertEquals(0, lines.count("b"));
    }
}
