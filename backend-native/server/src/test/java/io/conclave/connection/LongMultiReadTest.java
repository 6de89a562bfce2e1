package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.OpCode;
import io.conclave.protocol.RequestBody;
import io.conclave.tree.Applied;
import io.conclave.tree.Change;
import io.conclave.tree.Result;
import io.conclave.tree.SessionPassword;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeOperation;
import io.conclave.tree.TreeState;
import io.conclave.tree.ZnodeAcl;
import io.conclave.tree.ZnodeKind;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** How it is found out that a multiRead is long: that must take no longer than what is short. */
class LongMultiReadTest {
    /** As many parts as are not long by their number. */
    private static final int PARTS = 1_000;

    private static TreeState withChildren(int count, int characters) {
        Change open = new Change.OpenSession(1, SessionPassword.of(new byte[SessionPassword.BYTES]), 1_000);
        TreeState state =
                Tree.apply(TreeState.initial(new UUID(1, 2), 1), open, 1).state();
        List<TreeOperation> creates = new ArrayList<>(List.of(create("/top")));
        for (int i = 0; i < count; i++) {
            String number = Integer.toString(i);
            creates.add(create("/top/" + "x".repeat(characters - number.length()) + number));
        }
        Applied applied = Tree.apply(
                state,
                new Change.Request(
                        1, state.session(1).orElseThrow().attachment(), List.of(), new TreeOperation.Multi(creates)),
                1);
        assertInstanceOf(Result.MultiDone.class, applied.result());
        return applied.state();
    }

    private static TreeOperation create(String path) {
        return new TreeOperation.Create(path, null, ZnodeAcl.OPEN, ZnodeKind.PERSISTENT);
    }

    /** Many lists of the same node, which count how many were looked at. */
    private static final class CountedParts extends AbstractList<RequestBody> {
        private final List<RequestBody> parts = Collections.nCopies(PARTS, new RequestBody.GetChildren("/top", false));
        private int looks;

        @Override
        public RequestBody get(int index) {
            looks++;
            return parts.get(index);
        }

        @Override
        public int size() {
            return parts.size();
        }
    }

    /** All of them would be five million names, on the way to an answer that is made part by part. */
    @Test
    void noMorePartsAreLookedAtThanWhatIsShort() {
        CountedParts parts = new CountedParts();
        RequestBody.Multi request = new RequestBody.Multi(OpCode.MULTI_READ, parts);
        parts.looks = 0;
        assertTrue(MultiRead.isLong(withChildren(4_999, 10), request));
        assertTrue(parts.looks <= 2, parts.looks + " parts");
    }

    private static RequestBody.Multi lists(int count) {
        return new RequestBody.Multi(
                OpCode.MULTI_READ, Collections.nCopies(count, new RequestBody.GetChildren("/top", false)));
    }

    /** Each of which alone is short. */
    @Test
    void theCharactersOfNamesCountInAllPartsTogether() {
        TreeState state = withChildren(60, 4_000);
        assertFalse(MultiRead.isLong(state, lists(3)));
        assertTrue(MultiRead.isLong(state, lists(10)));
        assertFalse(MultiRead.isLong(withChildren(60, 10), lists(10)));
        assertEquals(false, MultiRead.isLong(state, new RequestBody.Multi(OpCode.MULTI_READ, List.of())));
    }
}
