package io.conclave.proofs.interop;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Our client on both servers, when they go away and come back. */
class OurClientIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private ServerUnderTest server;
    private Coordinator one;
    private Coordinator two;

    private void open(ServerKind kind) {
        server = kind.start();
        one = connect();
        two = connect();
    }

    private Coordinator connect() {
        return Coordinator.builder(server.url())
                .sessionTimeout(Duration.ofSeconds(20))
                .connect();
    }

    @AfterEach
    void close() {
        one.close();
        two.close();
        server.close();
    }

    @ParameterizedTest
    @EnumSource
    void grantAndWaiterLiveThroughARestartOfTheServer(ServerKind kind) throws Exception {
        open(kind);
        LockGrant grant = DistributedLock.at(one, "/locks/a").acquire(PATIENCE);
        CompletableFuture<LockGrant> waiting =
                DistributedLock.at(two, "/locks/a").acquireAsync();
        await().atMost(PATIENCE)
                .until(() -> DistributedLock.at(one, "/locks/a").members().size() == 2);
        long session = RecipeAccess.session(one).id();
        server.stop();
        await().atMost(PATIENCE).until(() -> one.state() == SessionState.SUSPENDED && two.state() == one.state());
        server.start();
        await().atMost(PATIENCE).until(() -> one.state() == SessionState.CONNECTED && two.state() == one.state());
        assertEquals(session, RecipeAccess.session(one).id());
        assertTrue(grant.isHeld());
        assertFalse(waiting.isDone());
        grant.close();
        LockGrant next = waiting.get(120, SECONDS);
        assertTrue(next.token().compareTo(grant.token()) > 0);
        next.close();
    }

    @ParameterizedTest
    @EnumSource
    void watchTellsWhatHappenedAfterARestart(ServerKind kind) throws Exception {
        open(kind);
        NodePath path = NodePath.of("/watched");
        one.execute(Create.of(path));
        BlockingQueue<NodeEvent> events = new LinkedBlockingQueue<>();
        one.execute(GetData.of(path).withWatcher(events::add));
        server.stop();
        await().atMost(PATIENCE).until(() -> one.state() == SessionState.SUSPENDED);
        CompletableFuture<?> queued =
                two.submit(SetData.of(path, new byte[] {1})).toCompletableFuture();
        server.start();
        queued.handle((done, failure) -> done).get(120, SECONDS);
        two.execute(SetData.of(path, new byte[] {2}));
        assertEquals(
                NodeEvent.Type.DATA_CHANGED,
                java.util.Objects.requireNonNull(events.poll(30, SECONDS)).type());
    }

    @ParameterizedTest
    @EnumSource
    void largeDataGoThrough(ServerKind kind) throws Exception {
        open(kind);
        byte[] large = new byte[1_000_000];
        Arrays.fill(large, (byte) 9);
        NodePath path = NodePath.of("/large");
        one.execute(Create.of(path).withData(large));
        assertArrayEquals(large, two.execute(GetData.of(path)).data());
    }
}
