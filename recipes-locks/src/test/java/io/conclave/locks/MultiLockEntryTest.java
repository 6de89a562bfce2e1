package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.grant.FencingToken;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetChildren;
import io.conclave.request.Multi;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.driver.Mistake;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The transactions of a multi-lock: what is sent, and what follows if an answer is lost or a place is. */
class MultiLockEntryTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final List<String> sent = Collections.synchronizedList(new ArrayList<>());
    private Coordinator coordinator;
    private Coordinator other;

    @BeforeEach
    void connect() {
        coordinator = connected();
        other = connected();
    }

    private Coordinator connected() {
        return store.opened(store.builder().sessionTimeout(Duration.ofSeconds(30)));
    }

    private static DistributedLock lock(Coordinator coordinator, String name) {
        return DistributedLock.at(coordinator, "/multi/" + name);
    }

    private static MultiLock multi(Coordinator coordinator, String... names) {
        return MultiLock.of(
                List.of(names).stream().map(name -> lock(coordinator, name)).toList());
    }

    private static MultiLock ten(Coordinator coordinator) {
        return MultiLock.of(IntStream.range(0, 10)
                .mapToObj(i -> lock(coordinator, "ten-" + i))
                .toList());
    }

    private void record() {
        record(RequestFate.PROCEED);
    }

    /** With this fate of the next transaction. */
    private void record(RequestFate ofTransaction) {
        AtomicBoolean isStruck = new AtomicBoolean();
        faults.intercept((session, request, index) -> {
            sent.add(request.getClass().getSimpleName());
            return request instanceof Multi && !isStruck.getAndSet(true) ? ofTransaction : RequestFate.PROCEED;
        });
    }

    /** Without the watches on the own places, which a hold of more than a moment has. */
    private TreeMap<String, Integer> counted() {
        TreeMap<String, Integer> counts = new TreeMap<>();
        List.copyOf(sent).stream()
                .filter(kind -> !kind.equals("GetData"))
                .forEach(kind -> counts.merge(kind, 1, Integer::sum));
        sent.clear();
        return counts;
    }

    private void awaitFree(String... names) {
        for (String name : names) {
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertEquals(List.of(), lock(other, name).members()));
        }
    }

    @Test
    void tenLocksAreEnteredInOneTransactionAndLeftInOne() throws Exception {
        ten(coordinator).acquire(PATIENCE).close(); // makes the lines
        record();
        MultiLockGrant grant = ten(coordinator).acquire(PATIENCE);
        TreeMap<String, Integer> expected = new TreeMap<>();
        expected.put("Multi", 1);
        expected.put("GetChildren", 10);
        assertEquals(expected, counted());
        assertEquals(
                1,
                grant.tokens().values().stream()
                        .map(FencingToken::sequence)
                        .distinct()
                        .count(),
                "of one zxid");
        grant.close();
        expected.clear();
        expected.put("Multi", 1);
        assertEquals(expected, counted());
    }

    @Test
    void missingLinesAreMadeBeforeAllAreEnteredAgain() throws Exception {
        lock(coordinator, "a").acquire().close();
        record();
        multi(coordinator, "a", "deep/b", "deep/c").acquire(PATIENCE).close();
        TreeMap<String, Integer> counts = counted();
        assertEquals(3, counts.get("Multi"), "refused, entered, left");
        assertTrue(counts.get("Create") <= 7, counts::toString);
        awaitFree("a", "deep/b", "deep/c");
    }

    @Test
    void transactionWithoutAnAnswerThatTookEffectIsFoundInEveryLine() throws Exception {
        multi(coordinator, "a", "b", "c").acquire().close();
        record(RequestFate.DROP_AFTER);
        MultiLockGrant grant = multi(coordinator, "a", "b", "c").acquire(PATIENCE);
        assertEquals(1, counted().get("Multi"));
        assertEquals(
                1,
                grant.tokens().values().stream()
                        .map(FencingToken::sequence)
                        .distinct()
                        .count(),
                "of one zxid");
        for (String name : List.of("a", "b", "c")) {
            assertEquals(1, lock(other, name).members().size());
        }
        grant.close();
        awaitFree("a", "b", "c");
    }

    @Test
    void transactionWithoutAnAnswerThatTookNoEffectIsSentAgain() throws Exception {
        multi(coordinator, "a", "b", "c").acquire().close();
        record(RequestFate.DROP_BEFORE);
        MultiLockGrant grant = multi(coordinator, "a", "b", "c").acquire(PATIENCE);
        assertEquals(2, counted().get("Multi"));
        grant.close();
        awaitFree("a", "b", "c");
    }

    @Test
    void placeDeletedBeforeTheOthersAreFoundEndsTheRequest() throws Exception {
        multi(coordinator, "a", "b", "c").acquire().close();
        deleteAtFirstList("b");
        CompletableFuture<MultiLockGrant> acquiring =
                multi(coordinator, "a", "b", "c").acquireAsync();
        ExecutionException failure = assertThrows(ExecutionException.class, () -> acquiring.get(120, SECONDS));
        assertInstanceOf(GrantLostException.class, failure.getCause());
        assertTrue(failure.getCause().getMessage().contains("/multi/b"), failure.getCause()::getMessage);
        awaitFree("a", "b", "c");
    }

    @Test
    void allPlacesDeletedBeforeTheyAreFoundAreMadeAgain() throws Exception {
        multi(coordinator, "a", "b").acquire().close();
        deleteAtFirstList("a", "b");
        MultiLockGrant grant = multi(coordinator, "a", "b").acquire(PATIENCE);
        assertTrue(grant.isHeld());
        grant.close();
        awaitFree("a", "b");
    }

    /** The transaction's answer is lost, and an operator deletes these places before any line is listed. */
    private void deleteAtFirstList(String... names) {
        AtomicBoolean isLost = new AtomicBoolean();
        AtomicBoolean isDone = new AtomicBoolean();
        faults.intercept((session, request, index) -> {
            if (request instanceof Multi && !isLost.getAndSet(true)) {
                return RequestFate.DROP_AFTER;
            }
            if (request instanceof GetChildren && isLost.get() && !isDone.getAndSet(true)) {
                for (String name : names) {
                    NodePath line = NodePath.of("/multi/" + name);
                    store.memory().snapshot().keySet().stream()
                            .filter(path -> path.parent().equals(Optional.of(line)))
                            .forEach(faults::deleteAsOperator);
                }
            }
            return RequestFate.PROCEED;
        });
    }

    @Test
    void releaseWhoseAnswerIsLostIsRepeatedForEachPlace() throws Exception {
        for (RequestFate fate : List.of(RequestFate.DROP_AFTER, RequestFate.DROP_BEFORE)) {
            MultiLockGrant grant = multi(coordinator, "a", "b", "c").acquire(PATIENCE);
            faults.onNext(Multi.class::isInstance, fate);
            grant.close();
            awaitFree("a", "b", "c");
        }
    }

    @Test
    void releaseOfPlacesOfWhichOneIsGoneDeletesTheOthers() throws Exception {
        MultiLockGrant grant = multi(coordinator, "a", "b", "c").acquire(PATIENCE);
        AtomicBoolean isDeleted = new AtomicBoolean();
        NodePath gone = grant.of(lock(coordinator, "b")).path();
        faults.intercept((session, request, index) -> {
            if (request instanceof Multi && !isDeleted.getAndSet(true)) {
                faults.deleteAsOperator(gone);
            }
            return RequestFate.PROCEED;
        });
        grant.close();
        assertTrue(isDeleted.get());
        awaitFree("a", "b", "c");
    }

    @Test
    void callerThatLeavesBeforeTheTransactionIsAnsweredLeavesNothing() throws Exception {
        multi(coordinator, "a", "b").acquire().close();
        for (RequestFate fate : List.of(RequestFate.PROCEED, RequestFate.DROP_AFTER, RequestFate.DROP_BEFORE)) {
            AtomicBoolean isCancelled = new AtomicBoolean();
            CompletableFuture<CompletableFuture<MultiLockGrant>> acquiring = new CompletableFuture<>();
            faults.intercept((session, request, index) -> {
                if (request instanceof Multi && !isCancelled.getAndSet(true)) {
                    acquiring.join().cancel(false);
                    return fate;
                }
                return RequestFate.PROCEED;
            });
            CompletableFuture<MultiLockGrant> begun =
                    multi(coordinator, "a", "b").acquireAsync();
            acquiring.complete(begun);
            await().atMost(PATIENCE).until(isCancelled::get);
            awaitFree("a", "b");
            multi(other, "a", "b").acquire(PATIENCE).close();
        }
    }

    @Test
    void refusedLineLeavesNothingInTheOthers() throws Exception {
        multi(coordinator, "a", "b").acquire().close();
        other.execute(Create.of(NodePath.of("/multi/parent"))); // whose child cannot have children
        try (Coordinator owner = connected()) {
            owner.execute(Create.of(NodePath.of("/multi/parent/e")).withMode(CreateMode.EPHEMERAL));
            ConclaveException refused =
                    assertThrows(ConclaveException.class, () -> multi(coordinator, "a", "b", "parent/e")
                            .acquire(PATIENCE));
            assertEquals(
                    RefusalReason.NO_CHILDREN_FOR_EPHEMERALS,
                    assertInstanceOf(RefusedException.class, refused).reason());
            awaitFree("a", "b");
        }
    }

    @Test
    void waitersStandInOneOrderInAllLines() throws Exception {
        LockGrant a = lock(other, "a").acquire();
        LockGrant c = lock(other, "c").acquire();
        CompletableFuture<MultiLockGrant> first = multi(coordinator, "b", "c").acquireAsync();
        await().until(() -> lock(other, "c").members().size() == 2);
        CompletableFuture<MultiLockGrant> second = multi(other, "a", "b").acquireAsync();
        await().until(() -> lock(other, "a").members().size() == 2);
        assertEquals(2, lock(other, "b").members().size());
        a.close();
        assertFalse(second.isDone(), "the first has the turn in b, although it waits for c");
        c.close();
        first.get(120, SECONDS).close();
        second.get(120, SECONDS).close();
        awaitFree("a", "b", "c");
    }

    @Test
    void anotherThatEntersAtTheSameTimeIsBeforeOrBehindInAllLines() throws Exception {
        assertEquals(1, ordersWithAnotherInBetween(Mistake.sendsOneByOne("nothing")));
        assertEquals(2, ordersWithAnotherInBetween(Mistake.sendsOneByOne("multi .create .*")), "a circle");
    }

    /**
     * In how many orders two stand in the lines of a and b, if the second enters while the first does: one if the first
     * enters in one transaction.
     */
    private int ordersWithAnotherInBetween(Mistake mistake) throws Exception {
        multi(other, "a", "b").acquire().close();
        LockGrant a = lock(other, "a").acquire();
        ManualTimeSource clocks = new ManualTimeSource();
        faults.plant(clocks, mistake::around);
        try (Coordinator first = store.opened(
                store.builder().sessionTimeout(Duration.ofSeconds(30)).timeSource(clocks))) {
            faults.onNext(
                    RecipeAccess.session(first).id(),
                    request -> request instanceof Multi || request instanceof Create,
                    RequestFate.HOLD_REPLY);
            CompletableFuture<MultiLockGrant> entering = multi(first, "a", "b").acquireAsync();
            awaitCount("a", 2);
            CompletableFuture<MultiLockGrant> second = multi(other, "a", "b").acquireAsync();
            awaitCount("a", 3);
            faults.releaseReplies(RecipeAccess.session(first).id());
            awaitCount("b", 2);
            List<Long> inA = owners("a");
            List<Long> inB = owners("b");
            entering.cancel(false);
            a.close();
            second.get(120, SECONDS).close();
            return inA.subList(1, 3).equals(inB) ? 1 : 2;
        }
    }

    private void awaitCount(String name, int count) {
        await().atMost(PATIENCE).until(() -> lock(other, name).members().size() == count);
    }

    private List<Long> owners(String name) throws InterruptedException {
        return lock(other, name).members().stream().map(LockMember::sessionId).toList();
    }
}
