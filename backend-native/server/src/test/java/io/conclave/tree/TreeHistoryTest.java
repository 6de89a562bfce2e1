package io.conclave.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.testkit.Sample;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Random histories: what must hold of every one of them. */
@Tag("sampled")
class TreeHistoryTest {
    private static final int STEPS = Sample.of(20_000);

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);
    private final RandomChanges changes = new RandomChanges(random);

    @Test
    void theTreeDoesWhatTheNaiveModelDoes() {
        TreeState state = TreeState.initial(TreeTester.CLUSTER, 1);
        NaiveTree model = new NaiveTree();
        int done = 0;
        for (int step = 0; step < STEPS; step++) {
            Change change = changes.next(state);
            Applied applied = Tree.apply(state, change, step);
            String where = "seed " + seed + " step " + step + " " + change;
            assertEquals(model.apply(change, applied.zxid(), step), TreeText.summary(applied), where);
            state = applied.state();
            if (!(applied.result() instanceof Result.Failed)) {
                done++;
            }
            if (step % 50 == 0) {
                assertTrue(state.hasRightDigest(), where);
                assertEquals(model.dump(), TreeText.dump(state), where);
            }
        }
        assertEquals(true, done > STEPS / 5, "only " + done + " changes did something, seed " + seed);
    }

    @Test
    void decodedChangesDoWhatTheOriginalsDo() {
        TreeState original = TreeState.initial(TreeTester.CLUSTER, 1);
        TreeState replayed = original;
        for (int step = 0; step < STEPS; step++) {
            Change change = changes.next(original);
            Change decoded = ChangeCodec.decode(ByteBuffer.wrap(ChangeCodec.encode(change)));
            assertEquals(change, decoded, "seed " + seed);
            Applied one = Tree.apply(original, change, step);
            Applied two = Tree.apply(replayed, decoded, step);
            assertEquals(one.result(), two.result(), "seed " + seed);
            assertEquals(one.events(), two.events(), "seed " + seed);
            original = one.state();
            replayed = two.state();
        }
        assertEquals(original.digest(), replayed.digest(), "seed " + seed);
    }

    @Test
    void aSnapshotGoesOnAsTheOriginalDoes() throws IOException {
        TreeState state = TreeState.initial(TreeTester.CLUSTER, 1);
        for (int step = 0; step < STEPS; step++) {
            if (step % 500 == 0) {
                TreeState restored = copy(state);
                assertEquals(TreeText.dump(state), TreeText.dump(restored), "seed " + seed);
                assertEquals(state.digest(), restored.digest(), "seed " + seed);
                assertEquals(state.nodeCount(), restored.nodeCount(), "seed " + seed);
                assertEquals(state.approximateDataBytes(), restored.approximateDataBytes(), "seed " + seed);
                assertEquals(state.approximateHeapBytes(), restored.approximateHeapBytes(), "seed " + seed);
                assertEquals(state.ephemeralCount(), restored.ephemeralCount(), "seed " + seed);
                assertEquals(state.reaped(), restored.reaped(), "seed " + seed);
                assertEquals(state.sessions(), restored.sessions(), "seed " + seed);
                state = restored;
            }
            state = Tree.apply(state, changes.next(state), step).state();
        }
    }

    private static TreeState copy(TreeState state) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        SnapshotCodec.write(state, bytes);
        return SnapshotCodec.read(new ByteArrayInputStream(bytes.toByteArray()));
    }

    @Test
    void oldStatesStayAsTheyWere() {
        TreeState state = TreeState.initial(TreeTester.CLUSTER, 1);
        List<TreeState> states = new ArrayList<>();
        List<Long> digests = new ArrayList<>();
        for (int step = 0; step < 2_000; step++) {
            states.add(state);
            digests.add(state.digest());
            state = Tree.apply(state, changes.next(state), step).state();
            assertNotEquals(digests.get(step), state.digest(), "seed " + seed);
        }
        for (int step = 0; step < states.size(); step++) {
            assertEquals(digests.get(step), states.get(step).digest(), "seed " + seed);
        }
    }
}
