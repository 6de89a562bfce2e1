package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.replica.Step;
import io.conclave.tree.Change;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeState;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DigestLogTest {
    private final DigestLog log = new DigestLog();
    private TreeState state = TreeState.initial(new UUID(1, 2), 0);

    private void apply(Change change) {
        Step step = new Step(change, Tree.apply(state, change, 1), null);
        state = step.applied().state();
        log.applied(List.of(step));
    }

    private void applyUntilNextDigest() {
        do {
            apply(new Change.RaiseFeatureLevel(2));
        } while (state.lastZxid() % DigestLog.EVERY != 0);
    }

    private String line() {
        return Long.toHexString(state.lastZxid()) + ": " + state.digest();
    }

    @Test
    void theLastDigestsAreKept() {
        apply(new Change.NewTerm(1));
        applyUntilNextDigest();
        String first = line();
        assertEquals("100000080", first.substring(0, first.indexOf(':')));
        assertEquals(List.of("100000000", "100000080"), zxids(log.text()));
        for (int i = 0; i < DigestLog.KEPT; i++) {
            applyUntilNextDigest();
        }
        List<String> lines = log.text().lines().toList();
        assertEquals(DigestLog.KEPT, lines.size());
        assertEquals("100000100", lines.get(0).substring(0, lines.get(0).indexOf(':')));
        assertEquals(line(), lines.get(lines.size() - 1));
    }

    private static List<String> zxids(String text) {
        return text.lines().map(line -> line.substring(0, line.indexOf(':'))).toList();
    }

    @Test
    void aSnapshotThatIsInstalledBeginsTheLogAnew() {
        applyUntilNextDigest();
        log.began(state);
        assertEquals("", log.text());
        applyUntilNextDigest();
        assertEquals(line() + "\n", log.text());
    }
}
