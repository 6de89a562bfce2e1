package io.conclave.tree;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** A list of few children is long where their names are. */
class LongNamesTest {
    private static final int CHARACTERS = 1 << 20;
    private static final int SESSION = 5;

    private final TreeTester tree = new TreeTester().open(SESSION);

    private void create(int count, int characters) {
        tree.request(SESSION, TreeTester.create("/top"));
        for (int i = 0; i < count; i++) {
            String number = Integer.toString(i);
            tree.request(
                    SESSION,
                    TreeTester.create(
                            "/top/" + number + "x".repeat(characters - number.length()), ZnodeKind.EPHEMERAL));
        }
    }

    private boolean isLong() {
        boolean names = TreeReads.hasLongNames(tree.state, "/top", CHARACTERS);
        boolean ephemerals = TreeReads.hasLongEphemerals(tree.state, SESSION, CHARACTERS);
        assertTrue(ephemerals || !names, "their paths are longer");
        return names;
    }

    @Test
    void manyLongNamesAreLong() {
        create(300, 4_000);
        assertTrue(isLong());
    }

    @Test
    void manyShortNamesAreNot() {
        create(1_000, 100);
        assertFalse(isLong());
    }

    @Test
    void fewNamesAreNotLookedAt() {
        create(256, 8_000);
        assertFalse(isLong());
    }

    @Test
    void whatIsNotThereIsNotLong() {
        assertFalse(TreeReads.hasLongNames(tree.state, "/missing", CHARACTERS));
        assertFalse(TreeReads.hasLongEphemerals(tree.state, 99, CHARACTERS));
    }
}
