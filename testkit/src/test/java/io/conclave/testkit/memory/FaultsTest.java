package io.conclave.testkit.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.ConclaveException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.recipe.Waiting;
import io.conclave.request.AddWatch;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Each fault does what it says; on the test's thread alone. */
class FaultsTest {
    private static final NodePath A = NodePath.of("/a");
    private static final NodePath B = NodePath.of("/a/b");

    private final ManualTimeSource time = new ManualTimeSource();
    private final MemoryStore store = new MemoryStore(time);
    private final Faults faults = store.faults();
    private final MemoryBackend backend = new MemoryBackend(store, MemoryBackendTest.options(time));
    private final List<SessionState> states = new ArrayList<>();
    private final BackendSession session = backend.openSession(states::add);
    private final BackendSession other = backend.openSession(state -> {});

    @Test
    void theNthMatchingRequestMeetsItsDecisionOnce() {
        faults.onNth(2, request -> request instanceof Create, RequestFate.DROP_BEFORE);
        assertEquals("answered", outcome(session.submit(Create.of(A))));
        assertEquals("answered empty", outcome(session.submit(Exists.of(B))));
        assertEquals("OutcomeUnknownException", outcome(session.submit(Create.of(B))));
        assertEquals("answered", outcome(session.submit(Create.of(B))));
    }

    @Test
    void theNthMatchingRequestIsCountedAlsoIfEarlierOnesMeetOtherDecisions() {
        faults.onNext(request -> request instanceof Create, RequestFate.DROP_BEFORE);
        faults.onNth(2, request -> request instanceof Create, RequestFate.DROP_BEFORE);
        faults.onNext(request -> request instanceof Create, RequestFate.DROP_BEFORE);
        for (int i = 1; i <= 3; i++) {
            assertEquals("OutcomeUnknownException", outcome(session.submit(Create.of(A))));
        }
        assertEquals("answered", outcome(session.submit(Create.of(A))));
        faults.onNext(request -> request instanceof Create, RequestFate.DROP_BEFORE);
        faults.onNth(2, request -> true, RequestFate.DROP_BEFORE);
        assertEquals("OutcomeUnknownException", outcome(session.submit(Create.of(B))));
        assertEquals("OutcomeUnknownException", outcome(session.submit(Create.of(B))));
        assertEquals("answered", outcome(session.submit(Create.of(B))));
    }

    @Test
    void theNextMatchingRequestOfOneSessionMeetsItsDecisionOnce() {
        faults.onNext(session.id(), request -> request instanceof Create, RequestFate.DROP_BEFORE);
        assertEquals("answered", outcome(other.submit(Create.of(A))), "it is another session's");
        assertEquals("answered empty", outcome(session.submit(Exists.of(B))));
        assertEquals("OutcomeUnknownException", outcome(session.submit(Create.of(B))));
        assertEquals("answered", outcome(session.submit(Create.of(B))));
    }

    @Test
    void aRequestThatMatchesIsRefusedUntilTheRefusalIsForgotten() {
        faults.refuse(request -> request instanceof Create, RefusalReason.NO_AUTH);
        assertEquals("create /a PERSISTENT: refused", outcome(session.submit(Create.of(A))));
        assertEquals("answered empty", outcome(session.submit(Exists.of(A))));
        assertEquals("create /a PERSISTENT: refused", outcome(other.submit(Create.of(A))));
        faults.clear();
        assertEquals("answered", outcome(session.submit(Create.of(A))));
    }

    @Test
    void aRefusalMayNameAnOperationOfATransaction() {
        faults.refuse(request -> request instanceof Multi, RefusalReason.LIMIT_EXCEEDED, 1);
        RefusedException refusal = assertInstanceOf(
                RefusedException.class, Waiting.cause(assertThrows(CompletionException.class, () -> session.submit(
                                Multi.of(Create.of(A), Create.of(B)))
                        .toCompletableFuture()
                        .join())));
        assertEquals(OptionalInt.of(1), refusal.operationIndex());
        assertEquals("answered empty", outcome(session.submit(Exists.of(A))));
    }

    @Test
    void anExpiryBeforeTheRequestLeavesNoEffectAndOneAfterItLeavesPersistentNodes() {
        faults.onNext(request -> true, RequestFate.EXPIRE_BEFORE);
        assertEquals("SessionGoneException", outcome(session.submit(Create.of(A))));
        assertEquals("answered empty", outcome(other.submit(Exists.of(A))));
        faults.onNext(request -> request instanceof Create, RequestFate.EXPIRE_AFTER);
        BackendSession third = backend.openSession(state -> {});
        assertEquals("SessionGoneException", outcome(third.submit(Create.of(A))));
        assertEquals("answered", outcome(other.submit(Exists.of(A))));
        assertEquals(List.of(SessionState.CONNECTED, SessionState.LOST), states);
        assertEquals(1, faults.liveSessions().size());
    }

    @Test
    void aHeldReplyHoldsAllThatComesBehindItAndTheOrderStays() {
        List<String> order = new ArrayList<>();
        session.submit(Create.of(A));
        session.submit(GetData.of(A).withWatcher(event -> order.add("event")));
        faults.onNext(request -> request instanceof Create, RequestFate.HOLD_REPLY);
        session.submit(Create.of(B)).thenRun(() -> order.add("created"));
        other.submit(SetData.of(A, new byte[1]));
        session.submit(GetData.of(A)).thenRun(() -> order.add("read"));
        assertEquals(List.of(), order);
        assertEquals("answered", outcome(other.submit(Exists.of(B))), "it has been executed");
        faults.releaseReplies(session.id());
        assertEquals(List.of("created", "event", "read"), order);
    }

    @Test
    void aDropLosesWhatIsHeldAndTheEventIsReportedOnReturn() {
        List<String> order = new ArrayList<>();
        session.submit(Create.of(A));
        session.submit(GetData.of(A).withWatcher(event -> order.add("event " + event.type())));
        faults.holdReplies(session.id());
        other.submit(SetData.of(A, new byte[1]));
        CompletionStage<Create.Created> created = session.submit(Create.of(B));
        faults.reconnectAfter(Duration.ofMillis(10));
        faults.drop(session.id());
        assertEquals("OutcomeUnknownException", outcome(created));
        assertEquals(List.of(), order);
        time.advance(Duration.ofMillis(10));
        assertEquals(List.of("event DATA_CHANGED"), order);
    }

    @Test
    void noSessionConnectsWhileAllAreSuspendedAndAllReconnect() {
        faults.suspendAll();
        List<SessionState> late = new ArrayList<>();
        BackendSession third = backend.openSession(late::add);
        CompletionStage<Create.Created> created = third.submit(Create.of(A));
        assertEquals(List.of(), late);
        assertEquals(SessionState.SUSPENDED, session.state());
        faults.restoreAll();
        assertEquals(List.of(SessionState.CONNECTED), late);
        assertEquals("answered", outcome(created));
        assertEquals(SessionState.CONNECTED, session.state());
        assertEquals(2, session.connectionNumber());
    }

    @Test
    void aSuspendedSessionThatExpiredLearnsItOnReturn() {
        faults.suspend(session.id());
        faults.expire(session.id());
        assertEquals(List.of(SessionState.CONNECTED, SessionState.SUSPENDED), states);
        faults.restore(session.id());
        assertEquals(List.of(SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.LOST), states);
    }

    @Test
    void aCloseThatDoesNotArriveLeavesTheEphemeralsToTheExpiry() {
        session.submit(Create.of(A).withMode(CreateMode.EPHEMERAL));
        faults.intercept(new RequestHook() {
            @Override
            public RequestFate onRequest(long sessionId, Request<?> request, long index) {
                return RequestFate.PROCEED;
            }

            @Override
            public RequestFate onClose(long sessionId, long index) {
                return RequestFate.DROP_BEFORE;
            }
        });
        assertEquals("answered", outcome(session.closeAsync()), "the backend cannot be reached");
        assertEquals("answered", outcome(other.submit(Exists.of(A))));
        time.advance(Duration.ofSeconds(6));
        assertEquals("answered empty", outcome(other.submit(Exists.of(A))));
    }

    @Test
    void aCloseBehindHeldRepliesIsConfirmedOnReleaseOrWhenTheSessionMustBeGone() {
        for (boolean releases : List.of(true, false)) {
            BackendSession closing = backend.openSession(state -> {});
            faults.holdReplies(closing.id());
            CompletionStage<?> asked = closing.submit(Exists.of(A));
            CompletionStage<Void> closed = closing.closeAsync();
            assertFalse(closed.toCompletableFuture().isDone());
            if (releases) {
                faults.releaseReplies(closing.id());
                assertEquals("answered empty", outcome(asked));
            } else {
                time.advance(Duration.ofSeconds(6));
                assertEquals("OutcomeUnknownException", outcome(asked));
            }
            assertTrue(closed.toCompletableFuture().isDone());
        }
    }

    @Test
    void anOperatorDeletesSubtreesOfAnyOwner() {
        List<String> events = new ArrayList<>();
        session.submit(Create.of(A));
        session.submit(Create.of(B).withMode(CreateMode.EPHEMERAL));
        session.submit(GetData.of(B).withWatcher(event -> events.add(event.type() + " " + event.path())));
        assertTrue(faults.deleteAsOperator(A));
        assertFalse(faults.deleteAsOperator(A));
        assertEquals(List.of("DELETED /a/b"), events);
        assertEquals("answered empty", outcome(session.submit(Exists.of(A))));
    }

    @Test
    void aContainerGoesAfterItsLastChildAndNotBeforeItsFirst() {
        session.submit(Create.of(A).withMode(CreateMode.CONTAINER));
        time.advance(Duration.ofMinutes(5));
        assertEquals("answered", outcome(session.submit(Exists.of(A))));
        session.submit(Create.of(B));
        session.submit(Delete.of(B));
        assertEquals("answered", outcome(session.submit(Exists.of(A))));
        time.advance(Duration.ofMinutes(1));
        assertEquals("answered empty", outcome(session.submit(Exists.of(A))));
    }

    @Test
    void aPersistentWatchMissesWhatHappensWhileSuspendedAndGoesOnAfterwards() {
        List<NodeEvent.Type> events = new ArrayList<>();
        session.submit(new AddWatch(A, true, event -> events.add(event.type())));
        faults.suspend(session.id());
        other.submit(Create.of(A));
        faults.restore(session.id());
        assertEquals(List.of(), events);
        other.submit(SetData.of(A, new byte[1]));
        assertEquals(List.of(NodeEvent.Type.DATA_CHANGED), events);
    }

    @Test
    void watchedNodesAreComparedOnReconnect() {
        List<String> events = new ArrayList<>();
        NodePath parent = NodePath.of("/p");
        session.submit(Create.of(A));
        session.submit(Create.of(parent));
        session.submit(GetData.of(A).withWatcher(event -> events.add("data " + event.type())));
        session.submit(Exists.of(B).withWatcher(event -> events.add("absence " + event.type())));
        session.submit(GetChildren.of(parent).withWatcher(event -> events.add("children " + event.type())));
        faults.suspend(session.id());
        other.submit(Create.of(B));
        other.submit(Delete.of(B));
        other.submit(Delete.of(A));
        other.submit(Create.of(A));
        other.submit(Delete.of(parent));
        faults.restore(session.id());
        assertEquals(
                List.of("children DELETED", "data DATA_CHANGED"),
                events.stream().sorted().toList());
        assertEquals(1, faults.watchCount(session.id()), "the look for the missing node is still there");
    }

    private static String outcome(CompletionStage<?> stage) {
        CompletableFuture<Object> outcome = new CompletableFuture<>();
        stage.whenComplete((answer, failure) -> {
            if (failure instanceof OutcomeUnknownException || failure instanceof SessionGoneException) {
                outcome.complete(failure.getClass().getSimpleName());
            } else if (failure instanceof ConclaveException) {
                outcome.complete(failure.getMessage());
            } else {
                outcome.complete(answer == java.util.Optional.empty() ? "answered empty" : "answered");
            }
        });
        assertTrue(outcome.isDone(), "not answered");
        return (String) outcome.join();
    }
}
