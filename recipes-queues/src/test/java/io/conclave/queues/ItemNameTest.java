package io.conclave.queues;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ItemNameTest {
    private static List<String> order(ItemOrder order, String... names) {
        return ItemName.unclaimed(List.of(names), order).stream()
                .map(ItemName::name)
                .toList();
    }

    @Test
    void namesOfTheRecipeDescriptionAndOursAreRead() {
        assertEquals(Optional.of(new ItemName("queue-0000000012", 0, 12)), ItemName.parse("queue-0000000012"));
        assertEquals(Optional.of(new ItemName("queue-07-0000000012", 7, 12)), ItemName.parse("queue-07-0000000012"));
        String ours = ItemName.toCreate("5e8a5a52-ab0f-4cc1-9ab7-e4f4b15be1b0", 42) + "-2147483648";
        assertEquals(Optional.of(new ItemName(ours, 42, Integer.MIN_VALUE)), ItemName.parse(ours));
        String delayed =
                ItemName.toCreateDelayed("5e8a5a52-ab0f-4cc1-9ab7-e4f4b15be1b0", 0x18BCFE56800L) + "0000000007";
        assertEquals("queue-5e8a5a52-ab0f-4cc1-9ab7-e4f4b15be1b0-|18BCFE56800|0000000007", delayed);
        assertEquals(Optional.of(new ItemName(delayed, 0x18BCFE56800L, 7)), ItemName.parse(delayed));
        String curators = "queue-|18BCFE56800|0000000007";
        assertEquals(Optional.of(new ItemName(curators, 0x18BCFE56800L, 7)), ItemName.parse(curators));
        for (String other :
                List.of("dead", "consumers", "claim-queue-0000000012", "queue-", "queue-12", "queue-9999999999")) {
            assertTrue(ItemName.parse(other).isEmpty(), other);
        }
    }

    @Test
    void claimedItemsAreHidden() {
        assertEquals(
                List.of("queue-0000000003"),
                order(
                        ItemOrder.BY_SEQUENCE,
                        "queue-0000000003",
                        "queue-0000000002",
                        "claim-queue-0000000002",
                        "notes"));
    }

    @Test
    void orderSurvivesTheWrapOfTheCounter() {
        assertEquals(
                List.of("queue-2147483647", "queue--2147483648", "queue--2147483647"),
                order(ItemOrder.BY_SEQUENCE, "queue--2147483647", "queue-2147483647", "queue--2147483648"));
    }

    @Test
    void timeComesBeforeAge() {
        assertEquals(
                List.of("queue-0000000009", "queue-|00000FFF|0000000003", "queue-a-|18BCFE56800|0000000001"),
                order(
                        ItemOrder.BY_TIME,
                        "queue-a-|18BCFE56800|0000000001",
                        "queue-|00000FFF|0000000003",
                        "queue-0000000009"));
    }

    @Test
    void priorityComesBeforeAge() {
        String[] names = {"queue-05-0000000001", "queue-00-0000000003", "queue-05-0000000000", "queue-0000000009"};
        assertEquals(
                List.of("queue-00-0000000003", "queue-0000000009", "queue-05-0000000000", "queue-05-0000000001"),
                order(ItemOrder.BY_PRIORITY, names));
        assertEquals(
                List.of("queue-05-0000000000", "queue-05-0000000001", "queue-00-0000000003", "queue-0000000009"),
                order(ItemOrder.BY_SEQUENCE, names));
    }
}
