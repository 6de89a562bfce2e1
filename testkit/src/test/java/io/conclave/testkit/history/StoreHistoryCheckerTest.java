package io.conclave.testkit.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.testkit.history.StoreHistoryChecker.FinalNode;
import io.conclave.testkit.history.StoreHistoryChecker.Rule;
import io.conclave.testkit.history.StoreOperation.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreHistoryCheckerTest {
    private static final String A = "/a";

    private final StoreHistory history = new StoreHistory();
    private final Map<String, FinalNode> nodes = new HashMap<>(Map.of(A, new FinalNode(0, 1, 0)));

    private StoreOperation submitSet(String session) {
        return history.submitted(Kind.SET, session, A, history.nextValue());
    }

    private void apply(StoreOperation set, long zxid, int version) {
        nodes.put(A, new FinalNode(set.value, zxid, version));
    }

    private StoreOperation set(String session, long zxid, int version) {
        StoreOperation set = submitSet(session);
        apply(set, zxid, version);
        history.wrote(set, zxid, version);
        return set;
    }

    private StoreOperation create(String session, long zxid, int sequence) {
        StoreOperation creation = history.submitted(Kind.CREATE, session, "/seq", history.nextValue());
        String path = "/seq/n-%010d".formatted(sequence);
        nodes.put(path, new FinalNode(creation.value, zxid, 0));
        history.created(creation, path, zxid);
        return creation;
    }

    private StoreOperation read(Kind kind, String session, FinalNode node) {
        StoreOperation read = history.submitted(kind, session, A, 0);
        history.read(read, node.value(), node.mzxid(), node.version());
        return read;
    }

    private Set<Rule> broken() {
        return StoreHistoryChecker.check(history, nodes).stream()
                .map(StoreHistoryChecker.Violation::rule)
                .collect(Collectors.toSet());
    }

    @Test
    void writesInOrderAreClean() {
        set("s", 2, 1);
        set("t", 3, 2);
        create("s", 4, 0);
        create("t", 5, 1);
        read(Kind.READ, "t", nodes.get(A));
        assertEquals(Set.of(), broken());
    }

    @Test
    void concurrentWritesMayTakeEffectInAnyOrder() {
        StoreOperation first = submitSet("s");
        StoreOperation second = submitSet("t");
        history.wrote(second, 2, 1);
        apply(first, 3, 2);
        history.wrote(first, 3, 2);
        assertEquals(Set.of(), broken());
    }

    @Test
    void anAcknowledgedSetThatIsNotThereIsLost() {
        FinalNode before = nodes.get(A);
        set("s", 2, 1);
        nodes.put(A, before);
        assertEquals(Set.of(Rule.LOST), broken());
    }

    @Test
    void anAcknowledgedZnodeThatIsNotThereIsLost() {
        StoreOperation creation = create("s", 2, 0);
        nodes.remove(creation.path);
        assertEquals(Set.of(Rule.LOST), broken());
    }

    @Test
    void anUnknownWriteMayBeThereOnceOrNotAtAll() {
        StoreOperation absent = submitSet("s");
        history.unknown(absent);
        assertEquals(Set.of(), broken());
        apply(absent, 2, 1);
        assertEquals(Set.of(), broken());
        apply(absent, 3, 2);
        assertEquals(Set.of(Rule.NOT_ONCE), broken());
    }

    @Test
    void anUnknownCreationMayNotBeThereTwice() {
        StoreOperation creation = history.submitted(Kind.CREATE, "s", "/seq", history.nextValue());
        history.unknown(creation);
        nodes.put("/seq/n-0000000000", new FinalNode(creation.value, 2, 0));
        assertEquals(Set.of(), broken());
        nodes.put("/seq/n-0000000001", new FinalNode(creation.value, 3, 0));
        assertEquals(Set.of(Rule.NOT_ONCE), broken());
    }

    @Test
    void aRefusedWriteThatIsThereIsReported() {
        StoreOperation refused = submitSet("s");
        history.refused(refused);
        set("s", 2, 1);
        apply(refused, 3, 2);
        assertTrue(broken().contains(Rule.NOT_ONCE));
    }

    @Test
    void aZxidGivenTwiceIsReported() {
        set("s", 2, 1);
        create("t", 2, 0);
        assertTrue(broken().contains(Rule.ZXID_REPEATED));
    }

    @Test
    void aWriteBeforeOneThatWasAcknowledgedBeforeItsSubmissionIsReported() {
        create("s", 5, 7);
        set("t", 4, 1);
        assertEquals(Set.of(Rule.WENT_BACK), broken());
    }

    @Test
    void aSessionsWritesInAnotherOrderAreReported() {
        StoreOperation first = submitSet("s");
        StoreOperation second = submitSet("s");
        history.wrote(first, 3, 2);
        history.wrote(second, 2, 1);
        apply(first, 3, 2);
        assertEquals(Set.of(Rule.SESSION_ORDER), broken());
    }

    @Test
    void aWriteOfUnknownOutcomeMayNotTakeEffectAfterTheSessionsNextAnswer() {
        StoreOperation unknown = submitSet("s");
        history.unknown(unknown);
        create("s", 5, 0);
        apply(unknown, 4, 1);
        assertEquals(Set.of(), broken());
        apply(unknown, 6, 1);
        assertEquals(Set.of(Rule.SESSION_ORDER), broken());
    }

    @Test
    void versionsAndSequenceNumbersMustGrow() {
        set("s", 2, 1);
        StoreOperation again = set("s", 3, 1);
        nodes.put(A, new FinalNode(again.value, 3, 2));
        assertTrue(broken().contains(Rule.VERSION));
        create("t", 4, 5);
        create("t", 5, 5);
        assertTrue(broken().contains(Rule.VERSION));
    }

    @Test
    void aReadBehindWhatTheSessionHasSeenIsStaleAndBehindWhatOthersHaveSeenIsNot() {
        FinalNode old = nodes.get(A);
        set("s", 2, 1);
        read(Kind.READ, "t", old);
        assertEquals(Set.of(), broken());
        read(Kind.READ, "s", old);
        assertEquals(Set.of(Rule.STALE), broken());
    }

    @Test
    void aReadBehindAnotherZnodesLaterStateIsStale() {
        FinalNode old = nodes.get(A);
        set("s", 2, 1);
        create("t", 3, 0);
        read(Kind.READ, "t", old);
        assertEquals(Set.of(Rule.STALE), broken());
    }

    @Test
    void aReadOfAValueThatWasNeverWrittenIsReported() {
        set("s", 2, 1);
        read(Kind.READ, "t", new FinalNode(77, 2, 1));
        assertEquals(Set.of(Rule.READ), broken());
    }

    @Test
    void aWatchThatFiresBeforeTheNextReadIsClean() {
        StoreOperation watch = read(Kind.WATCH, "t", nodes.get(A));
        set("s", 2, 1);
        history.fired(watch);
        read(Kind.READ, "t", nodes.get(A));
        assertEquals(Set.of(), broken());
    }

    @Test
    void aWatchThatFiresAfterTheChangeWasReadIsReported() {
        StoreOperation watch = read(Kind.WATCH, "t", nodes.get(A));
        set("s", 2, 1);
        read(Kind.READ, "t", nodes.get(A));
        history.fired(watch);
        assertEquals(Set.of(Rule.WATCH_OVERTAKEN), broken());
    }

    @Test
    void aWatchThatNeverFiresIsReportedUnlessItsSessionIsLost() {
        read(Kind.WATCH, "t", nodes.get(A));
        set("s", 2, 1);
        assertEquals(Set.of(Rule.WATCH_LOST), broken());
        history.lost("t");
        assertEquals(Set.of(), broken());
    }

    /**
     * A store that does everything right never breaks a rule, however requests cross each other and whatever becomes of
     * their answers.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void aGoodStoreIsClean(long seed) {
        Random random = new Random(seed);
        Map<String, List<StoreOperation>> inFlight = new HashMap<>();
        Map<StoreOperation, StoreOperation> watches = new HashMap<>();
        long zxid = 1;
        for (int i = 0; i < 2000; i++) {
            String session = "s" + random.nextInt(4);
            List<StoreOperation> own = inFlight.computeIfAbsent(session, name -> new ArrayList<>());
            if (own.size() < 4 && random.nextBoolean()) {
                own.add(history.submitted(Kind.values()[random.nextInt(4)], session, A, history.nextValue()));
            } else if (!own.isEmpty()) {
                StoreOperation next = own.remove(0);
                zxid = answer(next, zxid, random.nextInt(20) == 0, watches);
            }
        }
        inFlight.values().forEach(own -> own.forEach(history::unknown));
        assertEquals(List.of(), StoreHistoryChecker.check(history, nodes));
    }

    private long answer(
            StoreOperation next, long zxid, boolean replyIsLost, Map<StoreOperation, StoreOperation> watches) {
        FinalNode node = nodes.get(A);
        if (!next.isWrite()) {
            if (replyIsLost) {
                history.unknown(next);
            } else {
                history.read(next, node.value(), node.mzxid(), node.version());
                if (next.kind == Kind.WATCH) {
                    watches.put(next, next);
                }
            }
            return zxid;
        }
        long created = zxid + 1;
        if (next.kind == Kind.SET) {
            apply(next, created, node.version() + 1);
            watches.keySet().forEach(history::fired);
            watches.clear();
        } else {
            nodes.put("/a/n-%010d".formatted(created), new FinalNode(next.value, created, 0));
        }
        if (replyIsLost) {
            history.unknown(next);
        } else if (next.kind == Kind.SET) {
            history.wrote(next, created, nodes.get(A).version());
        } else {
            history.created(next, "/a/n-%010d".formatted(created), created);
        }
        return created;
    }
}
