package io.conclave.testkit.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import io.conclave.session.SessionState;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Everything runs on the test's thread: the callback executor is direct, and the test moves the time. */
class MemorySessionTest {
    private static final NodePath A = NodePath.of("/a");

    private final ManualTimeSource time = new ManualTimeSource();
    private final MemoryStore store = new MemoryStore(time);
    private final Faults faults = store.faults();
    private final MemoryBackend backend = new MemoryBackend(store, MemoryBackendTest.options(time));
    private final List<SessionState> states = new ArrayList<>();
    private final BackendSession session = backend.openSession(states::add);
    private final BackendSession other = backend.openSession(state -> {});

    @Test
    void aConnectedSessionPingsByItselfAndLivesOn() {
        ask(Create.of(A).withMode(CreateMode.EPHEMERAL));
        time.advance(Duration.ofMinutes(10));
        assertEquals(List.of(SessionState.CONNECTED), states);
        assertTrue(ask(Exists.of(A)).isPresent());
    }

    @Test
    void aSuspendedSessionIsLostLocallyBeforeTheServerExpiresIt() {
        ask(Create.of(A).withMode(CreateMode.EPHEMERAL));
        faults.suspend(session.id());
        time.advance(Duration.ofMillis(5950));

        assertEquals(List.of(SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.LOST), states);
        assertEquals(Duration.ZERO, session.remaining());
        assertTrue(await(other.submit(Exists.of(A))).isPresent(), "the server has not expired it yet");

        time.advance(Duration.ofMillis(60));
        assertTrue(await(other.submit(Exists.of(A))).isEmpty());
        assertThrows(SessionGoneException.class, () -> ask(Exists.of(A)));
    }

    @Test
    void aRequestDroppedBeforeItsExecutionHasNoEffectAndAnUnknownOutcome() {
        faults.onNext(request -> request instanceof Create, RequestFate.DROP_BEFORE);
        assertThrows(OutcomeUnknownException.class, () -> ask(Create.of(A)));
        assertEquals(List.of(SessionState.CONNECTED, SessionState.SUSPENDED, SessionState.CONNECTED), states);
        assertTrue(ask(Exists.of(A)).isEmpty());
    }

    @Test
    void aRequestWhoseReplyIsLostHasItsEffectAndAnUnknownOutcome() {
        faults.onNext(request -> request instanceof Create, RequestFate.DROP_AFTER);
        assertThrows(OutcomeUnknownException.class, () -> ask(Create.of(A)));
        assertTrue(ask(Exists.of(A)).isPresent());
    }

    @Test
    void aRequestThatArrivesLateTakesEffectRightBeforeTheNextConnection() {
        faults.reconnectAfter(Duration.ofSeconds(1));
        faults.onNext(request -> request instanceof Create, RequestFate.DROP_AND_APPLY_LATE);
        assertThrows(OutcomeUnknownException.class, () -> ask(Create.of(A)));
        assertTrue(await(other.submit(Exists.of(A))).isEmpty());
        time.advance(Duration.ofSeconds(1));
        assertTrue(ask(Exists.of(A)).isPresent());
    }

    @Test
    void serverThatLagsShowsALostRequestBehindASync() {
        faults.onNext(request -> request instanceof Create, RequestFate.DROP_AND_LAG);
        assertThrows(OutcomeUnknownException.class, () -> ask(Create.of(A)));
        assertTrue(ask(Exists.of(A)).isEmpty());
        ask(Sync.of(NodePath.ROOT));
        assertTrue(ask(Exists.of(A)).isPresent());
    }

    @Test
    void serverThatLagsShowsALostRequestToOthersAndLaterToAll() {
        faults.onNext(request -> request instanceof Create, RequestFate.DROP_AND_LAG);
        assertThrows(OutcomeUnknownException.class, () -> ask(Create.of(A)));
        assertTrue(ask(Exists.of(A)).isEmpty());
        assertTrue(await(other.submit(Exists.of(A))).isPresent());
        assertTrue(ask(Exists.of(A)).isPresent());
        faults.onNext(request -> request instanceof Delete, RequestFate.DROP_AND_LAG);
        assertThrows(OutcomeUnknownException.class, () -> ask(Delete.of(A)));
        assertTrue(ask(Exists.of(A)).isPresent());
        time.advance(MemorySession.LAG);
        assertTrue(ask(Exists.of(A)).isEmpty());
    }

    @Test
    void requestsWaitWhileSuspendedAndAreSentInOrderAfterwards() {
        faults.suspend(session.id());
        CompletableFuture<?> created = session.submit(Create.of(A)).toCompletableFuture();
        CompletableFuture<GetChildren.Children> listed =
                session.submit(GetChildren.of(NodePath.ROOT)).toCompletableFuture();
        assertTrue(!created.isDone() && !listed.isDone());

        faults.restore(session.id());
        assertTrue(created.isDone());
        assertEquals(List.of("a"), await(listed).names());
    }

    @Test
    void heldRepliesKeepTheDeadlineWhereItWas() {
        faults.holdReplies(session.id());
        CompletableFuture<?> created = session.submit(Create.of(A)).toCompletableFuture();
        time.advance(Duration.ofSeconds(4));
        assertTrue(!created.isDone());
        assertTrue(
                session.remaining().compareTo(Duration.ofSeconds(2)) <= 0,
                session.remaining().toString());

        faults.releaseReplies(session.id());
        assertTrue(created.isDone());
        assertTrue(
                session.remaining().compareTo(Duration.ofSeconds(3)) > 0,
                session.remaining().toString());
    }

    @Test
    void oneShotWatchMissedWhileSuspendedIsReportedOnReconnect() {
        List<NodeEvent.Type> events = new ArrayList<>();
        ask(Create.of(A));
        ask(GetData.of(A).withWatcher(event -> events.add(event.type())));
        faults.suspend(session.id());
        await(other.submit(SetData.of(A, new byte[] {1})));
        assertEquals(List.of(), events);
        faults.restore(session.id());
        assertEquals(List.of(NodeEvent.Type.DATA_CHANGED), events);
        assertEquals(0, faults.watchCount(session.id()));
    }

    @Test
    void aWatchWhoseReplyIsLostIsNotSet() {
        ask(Create.of(A));
        faults.onNext(request -> request instanceof GetData, RequestFate.DROP_AFTER);
        assertThrows(OutcomeUnknownException.class, () -> ask(GetData.of(A).withWatcher(event -> {})));
        assertEquals(0, faults.watchCount(session.id()));
    }

    @Test
    void anExpiredSessionIsNotifiedAndItsEphemeralsAreGone() {
        ask(Create.of(A).withMode(CreateMode.EPHEMERAL));
        faults.expire(session.id());
        assertEquals(List.of(SessionState.CONNECTED, SessionState.LOST), states);
        assertTrue(await(other.submit(Exists.of(A))).isEmpty());
    }

    @Test
    void aWallClockThatJumpsAheadEndsTheSessionAtTheNextRequest() {
        time.advanceWallOnly(Duration.ofSeconds(7));
        assertEquals(Duration.ZERO, session.remaining());
        assertThrows(SessionGoneException.class, () -> ask(Create.of(A)));
        assertEquals(SessionState.LOST, session.state());
    }

    @Test
    void theHookSeesEveryRequestInOrderAndMayDeleteAsAnOperatorInBetween() {
        List<String> seen = new ArrayList<>();
        faults.intercept((id, request, index) -> {
            seen.add(index + " " + request.describe());
            if (request instanceof Exists) {
                faults.deleteAsOperator(A);
            }
            return RequestFate.PROCEED;
        });
        ask(Create.of(A));
        assertTrue(ask(Exists.of(A)).isEmpty());
        assertEquals(List.of("0 create /a PERSISTENT", "1 exists /a"), seen);
        assertEquals(2, faults.requestCount());
    }

    private <R> R ask(Request<R> request) {
        return await(session.submit(request));
    }

    private static <R> R await(java.util.concurrent.CompletionStage<R> stage) {
        CompletableFuture<R> future = stage.toCompletableFuture();
        assertTrue(future.isDone(), "not answered");
        try {
            return future.join();
        } catch (CompletionException e) {
            throw assertInstanceOf(RuntimeException.class, e.getCause());
        }
    }
}
