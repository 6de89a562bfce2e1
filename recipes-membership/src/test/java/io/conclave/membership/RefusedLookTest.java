package io.conclave.membership;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A deletion of a group has begun, and the next request of it is refused: that says nothing of what was deleted. */
class RefusedLookTest {
    private static final Duration STEP = Duration.ofMillis(100);
    private static final NodePath PATH = NodePath.of("/group");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator coordinator = store.connect(clock);
    private final Group<String> group = Group.at(coordinator, PATH, DataCodec.TEXT);

    /** The group's deletion, when its members are deleted, or that of a member. */
    private static boolean deletes(Request<?> request, NodePath path) {
        return request instanceof Delete delete
                ? delete.path().equals(path)
                : request instanceof Multi multi && multi.describe().contains("delete " + path);
    }

    /** The deletion of this znode meets that fate; so many requests behind it are refused. */
    private CompletableFuture<Boolean> delete(NodePath of, RequestFate fate, RefusalReason reason, int refusals) {
        AtomicInteger left = new AtomicInteger();
        faults.refuse(request -> left.getAndUpdate(one -> Math.max(0, one - 1)) > 0, reason);
        faults.onNext(
                request -> {
                    boolean isIt = deletes(request, of);
                    if (isIt) {
                        left.set(refusals);
                    }
                    return isIt;
                },
                fate);
        CompletableFuture<Boolean> outcome = group.deleteAsync();
        clock.advanceUntil(STEP, outcome::isDone);
        return outcome;
    }

    private static Throwable failure(CompletableFuture<?> outcome) {
        return assertThrows(CompletionException.class, outcome::join).getCause();
    }

    @Test
    void deletionThatMayNotBeLookedUpIsUnknown() throws Exception {
        group.create();
        Throwable failure = failure(delete(PATH, RequestFate.DROP_AFTER, RefusalReason.AUTH_FAILED, Integer.MAX_VALUE));
        assertInstanceOf(OutcomeUnknownException.class, failure, failure::toString);
        assertInstanceOf(RefusedException.class, failure.getCause(), failure::toString);
        faults.clear();
        assertFalse(group.exists(), "it was deleted");
    }

    @Test
    void deletionIsLookedUpAgain() throws Exception {
        group.create();
        assertTrue(delete(PATH, RequestFate.DROP_AFTER, RefusalReason.LIMIT_EXCEEDED, 3)
                .join());
        assertFalse(group.exists());
    }

    @Test
    void deletionThatHadNoEffectIsMadeAfterALookThatWasRefusedAtFirst() throws Exception {
        group.create();
        assertTrue(delete(PATH, RequestFate.DROP_BEFORE, RefusalReason.NOT_WRITABLE, 3)
                .join());
        assertFalse(group.exists());
    }

    @Test
    void refusalThatPassesLeavesNoHalfOfAGroup() throws Exception {
        group.join("a", "payload");
        assertTrue(delete(PATH.child("a"), RequestFate.PROCEED, RefusalReason.LIMIT_EXCEEDED, 3)
                .join());
        assertFalse(group.exists());
    }

    @Test
    void deletionThatIsRefusedBeforeItHasBegunIsRefusedAtOnce() throws Exception {
        group.create();
        faults.refuse(request -> true, RefusalReason.LIMIT_EXCEEDED);
        assertInstanceOf(RefusedException.class, failure(group.deleteAsync()));
        faults.clear();
        assertTrue(group.exists());
    }

    @Test
    void refusalOfARightInTheMiddleIsToldAsOne() throws Exception {
        group.join("a", "payload");
        Throwable failure =
                failure(delete(PATH.child("a"), RequestFate.PROCEED, RefusalReason.NO_AUTH, Integer.MAX_VALUE));
        assertEquals(
                RefusalReason.NO_AUTH,
                assertInstanceOf(RefusedException.class, failure).reason());
        faults.clear();
        assertTrue(group.exists());
    }

    @Test
    void deletionThatIsRefusedOnceALookHasShownTheGroupIsToldAsRefused() throws Exception {
        group.create();
        AtomicInteger deletions = new AtomicInteger();
        faults.refuse(request -> deletes(request, PATH) && deletions.incrementAndGet() > 1, RefusalReason.NOT_WRITABLE);
        faults.onNext(request -> deletes(request, PATH), RequestFate.DROP_BEFORE);
        CompletableFuture<Boolean> outcome = group.deleteAsync();
        clock.advanceUntil(STEP, outcome::isDone);
        Throwable failure = failure(outcome);
        assertEquals(
                RefusalReason.NOT_WRITABLE,
                assertInstanceOf(RefusedException.class, failure).reason());
        faults.clear();
        assertTrue(group.exists());
    }

    @Test
    void timersOnlyHandOver() throws Exception {
        group.join("a", "payload");
        Set<Thread> senders = ConcurrentHashMap.newKeySet();
        faults.refuse(
                request -> {
                    senders.add(Thread.currentThread());
                    return false;
                },
                RefusalReason.OTHER);
        assertTrue(delete(PATH.child("a"), RequestFate.PROCEED, RefusalReason.LIMIT_EXCEEDED, 3)
                .join());
        assertFalse(senders.contains(Thread.currentThread()), "this thread runs the timers");
    }
}
