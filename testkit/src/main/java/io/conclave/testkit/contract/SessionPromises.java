package io.conclave.testkit.contract;

import static io.conclave.error.RefusalReason.NO_NODE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.ClosedException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.Acl;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Done;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.RemoveWatch;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import io.conclave.session.SessionState;
import io.conclave.spi.Backend;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Order, the life of a session, and what goes with it. */
abstract class SessionPromises extends TreePromises {
    @Test
    void aSessionConnectsAndHasAnIdAndATimeout() {
        SessionProbe one = open();
        SessionProbe two = open();
        assertEquals(List.of(SessionState.CONNECTED), one.states);
        assertEquals(SessionState.CONNECTED, one.session.state());
        assertNotEquals(0, one.session.id());
        assertNotEquals(one.session.id(), two.session.id());
        Duration remaining = one.session.remaining();
        assertTrue(remaining.compareTo(Duration.ZERO) > 0, remaining.toString());
        assertTrue(remaining.compareTo(sessionTimeout()) <= 0, remaining.toString());
        one.flush();
        assertEquals(1, one.session.connectionNumber());
    }

    @Test
    void requestsOfASessionAreExecutedAndCompletedInTheirOrder() {
        SessionProbe session = open();
        session.ask(Create.of(path("a")));
        List<Integer> completed = new CopyOnWriteArrayList<>();
        List<CompletionStage<?>> stages = new ArrayList<>();
        // Submitted on the dispatcher, so that no stage is complete before its continuation is attached.
        CompletableFuture<Boolean> submitted = new CompletableFuture<>();
        session.session.dispatcher().execute(() -> {
            for (int i = 0; i < 300; i++) {
                int number = i;
                stages.add(session.session.submit(mixed(i)).whenComplete((answer, failure) -> completed.add(number)));
            }
            submitted.complete(true);
        });
        SessionProbe.await("submit", submitted);
        for (int i = 0; i < stages.size(); i++) {
            checkMixed(i, stages.get(i));
        }
        assertEquals(IntStream.range(0, 300).boxed().toList(), completed);
    }

    /** Writes, reads that must see them, and requests that are refused at the server and at the client. */
    private Request<?> mixed(int i) {
        return switch (i % 6) {
            case 0 -> SetData.of(path("a"), bytes("" + i)).withVersion(i / 6);
            case 1 -> GetData.of(path("a"));
            case 2 -> Create.of(path("c" + i / 6));
            case 3 -> GetChildren.of(base());
            case 4 -> Delete.of(path("missing"));
            default -> Sync.of(path("a"));
        };
    }

    private static void checkMixed(int i, CompletionStage<?> stage) {
        if (i % 6 == 4) {
            assertThrows(RefusedException.class, () -> SessionProbe.await("request " + i, stage));
            return;
        }
        Object answer = SessionProbe.await("request " + i, stage);
        if (answer instanceof GetData.NodeData data) {
            assertEquals(i / 6 + 1, data.stat().version(), "the read sees the write before it");
        } else if (answer instanceof GetChildren.Children children) {
            assertEquals(i / 6 + 2, children.names().size(), "the list has the node created before it");
        }
    }

    @Test
    void completionsComeOneAtATimeInOrderWithTheTasksOfTheDispatcher() {
        SessionProbe session = open();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<CompletionStage<?>> stages = new ArrayList<>();
        Runnable callback = () -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            Thread.onSpinWait();
            inside.decrementAndGet();
        };
        CompletableFuture<Boolean> submitted = new CompletableFuture<>();
        session.session.dispatcher().execute(() -> {
            for (int i = 0; i < 100; i++) {
                stages.add(
                        session.session.submit(Exists.of(path("a"))).whenComplete((answer, failure) -> callback.run()));
            }
            submitted.complete(true);
        });
        for (int i = 0; i < 100; i++) {
            session.session.dispatcher().execute(callback);
        }
        SessionProbe.await("submit", submitted);
        stages.forEach(stage -> SessionProbe.await("exists", stage));
        session.flush();
        assertEquals(1, most.get());
    }

    @Test
    void aWriteThatWasAnsweredIsSeenByASyncedReadOfAnotherSession() {
        SessionProbe writer = open();
        SessionProbe reader = open();
        for (int i = 0; i < 20; i++) {
            writer.ask(Create.of(path("n" + i)));
            reader.session.submit(Sync.of(base()));
            assertTrue(reader.ask(Exists.of(path("n" + i))).isPresent(), "n" + i);
        }
    }

    @Test
    void aWriteThatWasAnsweredIsSeenByALinearizableReadOfAnotherSession() {
        SessionProbe writer = open();
        SessionProbe reader = open();
        writer.ask(Create.of(path("n")).withData(bytes("0")));
        for (int i = 1; i <= 20; i++) {
            writer.ask(SetData.of(path("n"), bytes("" + i)));
            writer.ask(Create.of(path("n").child("c" + i)));
            assertArrayEquals(
                    bytes("" + i),
                    reader.ask(GetData.of(path("n")).linearizable()).data());
            assertEquals(
                    i,
                    reader.ask(GetChildren.of(path("n")).linearizable()).names().size());
            assertTrue(reader.ask(Exists.of(path("n").child("c" + i)).linearizable())
                    .isPresent());
        }
        assertEquals(NO_NODE, reader.refused(GetData.of(path("missing")).linearizable()));
        assertTrue(reader.ask(Exists.of(path("missing")).linearizable()).isEmpty());
    }

    @Test
    void closingDeletesOnlyTheSessionsOwnEphemeralNodes() {
        SessionProbe leaver = open();
        SessionProbe stayer = open();
        leaver.ask(Create.of(path("e")).withMode(CreateMode.EPHEMERAL));
        leaver.ask(Create.of(path("s-")).withMode(CreateMode.EPHEMERAL_SEQUENTIAL));
        leaver.ask(Create.of(path("persistent")));
        stayer.ask(Create.of(path("other")).withMode(CreateMode.EPHEMERAL));

        SessionProbe.await("close", leaver.session.closeAsync());
        stayer.session.submit(Sync.of(base()));
        List<String> names =
                stayer.ask(GetChildren.of(base())).names().stream().sorted().toList();
        assertEquals(List.of("other", "persistent"), names);
    }

    @Test
    void aClosedSessionRefusesRequestsAndMayBeClosedAgain() {
        SessionProbe session = open();
        SessionProbe.await("close", session.session.closeAsync());
        SessionProbe.await("close again", session.session.closeAsync());
        assertThrows(ClosedException.class, () -> session.ask(Exists.of(path("a"))));
        session.awaitState(SessionState.CLOSED);
        assertEquals(List.of(SessionState.CONNECTED, SessionState.CLOSED), session.states);
        assertEquals(SessionState.CLOSED, session.session.state());
        assertEquals(Duration.ZERO, session.session.remaining());
    }

    @Test
    void requestsBeforeTheCloseAreCompleted() {
        SessionProbe session = open();
        List<CompletionStage<Create.Created>> stages = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            stages.add(session.session.submit(Create.of(path("n" + i))));
        }
        CompletionStage<Void> closed = session.session.closeAsync();
        stages.forEach(stage -> SessionProbe.await("create", stage));
        SessionProbe.await("close", closed);
        assertEquals(20, open().ask(GetChildren.of(base())).names().size());
    }

    @Test
    void closingTheBackendClosesItsSessions() {
        Backend backend = backend(options());
        SessionProbe session = SessionProbe.open(backend);
        session.ask(Create.of(path("e")).withMode(CreateMode.EPHEMERAL));
        SessionProbe witness = open();
        SessionProbe.Events events = new SessionProbe.Events();
        witness.ask(Exists.of(path("e")).withWatcher(events));
        backend.close();
        events.await(1);
        assertThrows(ClosedException.class, () -> session.ask(Exists.of(path("a"))));
    }

    /** The client's clock stands, so it sends no heartbeat: what a stopped process looks like. */
    @Test
    void aStoppedProcessLosesItsEphemeralNodesAndOnWakingItsSession() {
        SessionProbe witness = open();
        SessionProbe.Events created = new SessionProbe.Events();
        witness.ask(Exists.of(path("e")).withWatcher(created));
        ManualTimeSource standing = new ManualTimeSource();
        SessionProbe stopped = open(optionsWithTime(shortSessionTimeout(), standing));
        stopped.ask(Create.of(path("e")).withMode(CreateMode.EPHEMERAL));
        assertEquals(List.of("CREATED e"), created.await(1));
        Awaitility.await("the end of the ephemeral node")
                .atMost(SessionProbe.PATIENCE)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> witness.ask(Exists.of(path("e"))).isEmpty());

        standing.advanceWallOnly(shortSessionTimeout());
        assertEquals(Duration.ZERO, stopped.session.remaining(), "known at once, before any message");
        standing.advance(shortSessionTimeout());
        stopped.awaitState(SessionState.LOST);
        assertThrows(SessionGoneException.class, () -> stopped.ask(Create.of(path("e"))));
        assertTrue(witness.ask(Exists.of(path("e"))).isEmpty());
    }

    /** The client's clock goes ahead of the server's, which would keep the session for as long as it was granted. */
    @Test
    void aLostSessionHasEndedWhenTheNextOneIsConnected() {
        ManualTimeSource ahead = new ManualTimeSource();
        Backend backend = backend(optionsWithTime(sessionTimeout(), ahead));
        SessionProbe lost = SessionProbe.open(backend);
        lost.ask(Create.of(path("e")).withMode(CreateMode.EPHEMERAL));
        // in one jump: a ping that goes out on the way can be answered before the way's end, each time
        ahead.suspend(sessionTimeout());
        ahead.advanceUntil(sessionTimeout(), () -> lost.states.contains(SessionState.LOST));
        SessionProbe next = SessionProbe.open(backend);
        assertNotEquals(lost.session.id(), next.session.id());
        assertTrue(next.ask(Exists.of(path("e"))).isEmpty());
    }

    @Test
    void aWriteMovesTheDeadlineAndAReadDoesNot() {
        ManualTimeSource standing = new ManualTimeSource();
        SessionProbe session = open(optionsWithTime(sessionTimeout(), standing));
        Duration half = sessionTimeout().dividedBy(2);
        standing.advance(Duration.ofNanos(1));
        standing.advanceWallOnly(half);
        session.ask(Exists.of(path("a")));
        assertTrue(session.session.remaining().compareTo(half) <= 0, "after a read");
        session.ask(Create.of(path("a")));
        assertTrue(session.session.remaining().compareTo(half) > 0, "after a write");
    }

    @Test
    void requestsBeyondTheBoundAreRefusedAndThoseBelowItSucceed() throws InterruptedException {
        int bound = 10;
        SessionProbe session = open(options(sessionTimeout(), TimeSource.system(), List.of(), Acl.OPEN, bound));
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        session.session.dispatcher().execute(() -> {
            blocked.countDown();
            awaitQuietly(release);
        });
        blocked.await();
        List<CompletionStage<Create.Created>> stages = new ArrayList<>();
        for (int i = 0; i < 2 * bound; i++) {
            stages.add(session.session.submit(Create.of(path("n" + i))));
        }
        release.countDown();
        for (int i = 0; i < 2 * bound; i++) {
            CompletionStage<Create.Created> stage = stages.get(i);
            if (i < bound) {
                SessionProbe.await("create " + i, stage);
            } else {
                RefusedException refusal =
                        assertThrows(RefusedException.class, () -> SessionProbe.await("create", stage), "create " + i);
                assertEquals(RefusalReason.LIMIT_EXCEEDED, refusal.reason());
            }
        }
        session.flush();
        session.ask(Create.of(path("room-again")));
    }

    /** A recipe that has ended asks once: a watch that stayed would gather with others at the server. */
    @Test
    void theRemovalOfAWatchIsTakenBeyondTheBound() throws InterruptedException {
        int bound = 10;
        SessionProbe session = open(options(sessionTimeout(), TimeSource.system(), List.of(), Acl.OPEN, bound));
        SessionProbe.Events watcher = new SessionProbe.Events();
        session.ask(Exists.of(path("watched")).withWatcher(watcher));
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        session.session.dispatcher().execute(() -> {
            blocked.countDown();
            awaitQuietly(release);
        });
        blocked.await();
        for (int i = 0; i < bound; i++) {
            session.session.submit(Create.of(path("n" + i)));
        }
        CompletionStage<Done> removed = session.session.submit(new RemoveWatch(path("watched"), watcher));
        release.countDown();
        SessionProbe.await("remove the watch", removed);
        session.ask(Create.of(path("watched")));
        session.flush();
        assertEquals(List.of(), watcher.seen());
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aFailedStageCarriesTheFailureItselfAndTheRequestsName() {
        SessionProbe session = open();
        NodePath missing = path("missing");
        CompletionException failure = assertThrows(CompletionException.class, () -> session.session
                .submit(Delete.of(missing))
                .toCompletableFuture()
                .join());
        RefusedException refusal = assertInstanceOf(RefusedException.class, failure.getCause());
        assertTrue(refusal.toString().contains(missing.toString()), refusal.toString());
    }
}
