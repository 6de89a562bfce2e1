package io.conclave.testkit;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.failsafe.RetryPolicy;
import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.ConnectException;
import io.conclave.error.CredentialsRejectedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.Acl;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.request.AddWatch;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetAcl;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.RemoveWatch;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.request.Watcher;
import io.conclave.session.Authentication;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The coordinator: one session after another, names inside a namespace, listeners that do not hinder each other. */
class CoordinatorTest {
    private static final NodePath A = NodePath.of("/a");

    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();
    private final List<Coordinator> opened = new ArrayList<>();

    @AfterEach
    void close() {
        faults.clear();
        opened.forEach(Coordinator::close);
        MemoryStore.forget(store);
    }

    private io.conclave.coordinator.CoordinatorBuilder builder() {
        return Coordinator.builder("memory:" + store).sessionTimeout(Duration.ofMinutes(1));
    }

    private Coordinator connect() {
        return opened(builder());
    }

    private Coordinator opened(io.conclave.coordinator.CoordinatorBuilder builder) {
        Coordinator coordinator = builder.connect();
        opened.add(coordinator);
        return coordinator;
    }

    @Test
    void opensANewSessionAfterALoss() throws Exception {
        Coordinator coordinator = connect();
        BlockingQueue<SessionState> states = new LinkedBlockingQueue<>();
        coordinator.onStateChange(states::add);
        long first = RecipeAccess.session(coordinator).id();
        coordinator.execute(Create.of(A).withMode(CreateMode.EPHEMERAL));
        faults.expire(first);
        assertEquals(SessionState.LOST, states.poll(120, SECONDS));
        assertEquals(SessionState.CONNECTED, states.poll(120, SECONDS));
        assertTrue(coordinator.execute(Exists.of(A)).isEmpty());
        assertTrue(RecipeAccess.session(coordinator).id() != first);
    }

    @Test
    void requestsOfTheLostSessionSayThatItIsGone() throws Exception {
        Coordinator coordinator = connect();
        long session = RecipeAccess.session(coordinator).id();
        faults.suspend(session);
        await().until(() -> coordinator.state() == SessionState.SUSPENDED);
        CompletableFuture<?> waiting = coordinator.submit(Create.of(A)).toCompletableFuture();
        assertFalse(waiting.isDone());
        faults.expire(session);
        faults.restoreAll();
        ExecutionException failure = assertThrows(ExecutionException.class, () -> waiting.get(120, SECONDS));
        assertTrue(failure.getCause() instanceof SessionGoneException, failure::toString);
    }

    @Test
    void readOfUnknownOutcomeIsSentAgainButAWriteIsNot() throws Exception {
        Coordinator coordinator = connect();
        coordinator.execute(Create.of(A));
        faults.onNext(request -> request instanceof GetData, RequestFate.DROP_AFTER);
        assertEquals(0, coordinator.execute(GetData.of(A)).data().length);
        faults.onNext(request -> request instanceof SetData, RequestFate.DROP_AFTER);
        assertThrows(OutcomeUnknownException.class, () -> coordinator.execute(SetData.of(A, new byte[] {1})));
        assertArrayEquals(new byte[] {1}, coordinator.execute(GetData.of(A)).data());
    }

    @Test
    void retryPolicyDecidesHowOften() throws Exception {
        Coordinator coordinator = opened(builder()
                .retryPolicy(RetryPolicy.builder()
                        .handle(OutcomeUnknownException.class)
                        .withMaxRetries(1)
                        .build()));
        coordinator.execute(Create.of(A));
        faults.onNext(request -> request instanceof GetData, RequestFate.DROP_BEFORE);
        faults.onNext(request -> request instanceof GetData, RequestFate.DROP_BEFORE);
        assertThrows(OutcomeUnknownException.class, () -> coordinator.execute(GetData.of(A)));
        assertEquals(0, coordinator.execute(GetData.of(A)).data().length);
    }

    @Test
    void namespaceIsInvisibleFromInside() throws Exception {
        Coordinator plain = connect();
        Coordinator inside = opened(builder().namespace("/app/one"));
        assertEquals(A, inside.execute(Create.of(A)).path());
        assertTrue(plain.execute(Exists.of(NodePath.of("/app/one/a"))).isPresent());
        assertEquals(List.of("a"), inside.execute(GetChildren.of(NodePath.ROOT)).names());
        List<Multi.Result> results = inside.execute(Multi.of(
                Create.of(A.child("s-")).withMode(CreateMode.PERSISTENT_SEQUENTIAL),
                Delete.of(A.child("s-0000000000"))));
        assertEquals(A.child("s-0000000000"), results.get(0).path().orElseThrow());
        BlockingQueue<NodeEvent> events = new LinkedBlockingQueue<>();
        Watcher watcher = events::add;
        inside.execute(new AddWatch(A, true, watcher));
        plain.execute(SetData.of(NodePath.of("/app/one/a"), new byte[] {1}));
        NodeEvent event = events.poll(120, SECONDS);
        assertEquals(A, event.path());
        assertEquals(NodeEvent.Type.DATA_CHANGED, event.type());
        inside.execute(new RemoveWatch(A, watcher));
    }

    @Test
    void listenerThatBlocksHindersNeitherOthersNorRequests() throws Exception {
        Coordinator coordinator = connect();
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        BlockingQueue<SessionState> seen = new LinkedBlockingQueue<>();
        coordinator.onStateChange(state -> {
            blocked.countDown();
            awaitQuietly(release);
        });
        coordinator.onStateChange(seen::add);
        coordinator.execute(Create.of(A));
        coordinator.execute(GetData.of(A).withWatcher(event -> awaitQuietly(release)));
        coordinator.execute(SetData.of(A, new byte[] {1}));
        faults.drop(RecipeAccess.session(coordinator).id());
        assertTrue(blocked.await(120, SECONDS));
        assertEquals(SessionState.SUSPENDED, seen.poll(120, SECONDS));
        assertEquals(SessionState.CONNECTED, seen.poll(120, SECONDS));
        assertEquals(1, coordinator.execute(GetData.of(A)).data().length);
        release.countDown();
    }

    @Test
    void watcherMayCallTheCoordinatorAndWait() throws Exception {
        Coordinator coordinator = connect();
        coordinator.execute(Create.of(A));
        CompletableFuture<Integer> read = new CompletableFuture<>();
        coordinator.execute(GetData.of(A).withWatcher(event -> {
            try {
                read.complete(coordinator.execute(GetData.of(A)).data().length);
            } catch (Exception e) {
                read.completeExceptionally(e);
            }
        }));
        coordinator.execute(SetData.of(A, new byte[3]));
        assertEquals(3, read.get(120, SECONDS));
    }

    @Test
    void continuationMayWaitForAnotherRequest() throws Exception {
        Coordinator coordinator = connect();
        CompletableFuture<Integer> length = coordinator
                .submit(Create.of(A).withData(new byte[5]))
                .thenApply(created -> {
                    try {
                        return coordinator.execute(GetData.of(A)).data().length;
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                })
                .toCompletableFuture();
        assertEquals(5, length.get(120, SECONDS));
    }

    @Test
    void blockingOnTheDispatcherIsRefusedByName() throws Exception {
        Coordinator coordinator = connect();
        CompletableFuture<Throwable> refusal = new CompletableFuture<>();
        RecipeAccess.session(coordinator).execute(() -> {
            try {
                faults.holdReplies(RecipeAccess.session(coordinator).id());
                coordinator.execute(GetChildren.of(NodePath.ROOT));
                refusal.complete(new AssertionError("did not refuse"));
            } catch (Exception e) {
                refusal.complete(e);
            }
        });
        assertTrue(refusal.get(120, SECONDS) instanceof IllegalStateException, () -> refusal.join()
                .toString());
    }

    @Test
    void listenerCanBeTakenAway() throws Exception {
        Coordinator coordinator = connect();
        BlockingQueue<SessionState> gone = new LinkedBlockingQueue<>();
        BlockingQueue<SessionState> stays = new LinkedBlockingQueue<>();
        Registration registration = coordinator.onStateChange(gone::add);
        coordinator.onStateChange(stays::add);
        registration.close();
        faults.drop(RecipeAccess.session(coordinator).id());
        assertEquals(SessionState.SUSPENDED, stays.poll(120, SECONDS));
        assertTrue(gone.isEmpty());
    }

    @Test
    void defaultAclAndIdentityAreUsed() throws Exception {
        Coordinator owner = opened(
                builder().authentication(Authentication.digest("bob", "secret")).defaultAcl(Acl.CREATOR_ONLY));
        owner.execute(Create.of(A));
        assertEquals(
                "digest", owner.execute(GetAcl.of(A)).acl().entries().get(0).scheme());
        Coordinator stranger = connect();
        assertThrows(io.conclave.error.RefusedException.class, () -> stranger.execute(GetData.of(A)));
    }

    @Test
    void closedCoordinatorRefusesAndClosesTwice() throws Exception {
        Coordinator coordinator = connect();
        Coordinator other = connect();
        coordinator.execute(Create.of(A).withMode(CreateMode.EPHEMERAL));
        BlockingQueue<SessionState> states = new LinkedBlockingQueue<>();
        coordinator.onStateChange(states::add);
        coordinator.close();
        coordinator.close();
        assertEquals(SessionState.CLOSED, coordinator.state());
        assertEquals(SessionState.CLOSED, states.poll(120, SECONDS));
        assertTrue(other.execute(Exists.of(A)).isEmpty());
        assertThrows(ClosedException.class, () -> coordinator.execute(Exists.of(A)));
        ExecutionException failure = assertThrows(
                ExecutionException.class,
                () -> coordinator.submit(Exists.of(A)).toCompletableFuture().get(120, SECONDS));
        assertTrue(failure.getCause() instanceof ClosedException, failure::toString);
    }

    @Test
    void closeWhileTheConnectionIsAwayReturnsInTime() throws Exception {
        Coordinator coordinator = opened(builder().timeSource(new ManualTimeSource())); // of which no time passes
        faults.suspend(RecipeAccess.session(coordinator).id());
        await().until(() -> coordinator.state() == SessionState.SUSPENDED);
        CompletableFuture.runAsync(coordinator::close).get(120, SECONDS);
        assertEquals(SessionState.CLOSED, coordinator.state());
    }

    @Test
    void closesWithoutBlocking() throws Exception {
        ManualTimeSource clock = new ManualTimeSource();
        Coordinator coordinator = opened(builder().timeSource(clock));
        Coordinator other = connect();
        coordinator.execute(Create.of("/a").withMode(CreateMode.EPHEMERAL));
        BlockingQueue<SessionState> states = new LinkedBlockingQueue<>();
        coordinator.onStateChange(states::add);
        faults.holdReplies(RecipeAccess.session(coordinator).id());
        CompletableFuture<Void> closed = coordinator.closeAsync();
        CompletableFuture<Void> again = coordinator.closeAsync();
        assertEquals(SessionState.CLOSED, coordinator.state());
        assertFalse(again.isDone(), "the store's confirmation is held, and no time passes");
        assertTrue(closed.cancel(true));
        faults.releaseReplies(RecipeAccess.session(coordinator).id());
        again.get(120, SECONDS);
        assertEquals(SessionState.CLOSED, states.poll(120, SECONDS));
        assertThrows(ClosedException.class, () -> coordinator.execute(Exists.of("/a")));
        assertTrue(other.execute(Exists.of("/a")).isEmpty());
    }

    @Test
    void coordinatorOfAnotherMakeIsClosedByItsCloseOnAThread() throws Exception {
        Coordinator coordinator = connect();
        Thread caller = Thread.currentThread();
        CompletableFuture<Thread> closing = new CompletableFuture<>();
        Coordinator wrapped = new Wrapped(coordinator) {
            @Override
            public void close() {
                closing.complete(Thread.currentThread());
                super.close();
            }
        };
        wrapped.closeAsync().get(120, SECONDS);
        assertTrue(closing.get(120, SECONDS) != caller);
        assertEquals(SessionState.CLOSED, coordinator.state());
    }

    /** As an application may have it, to watch its calls. */
    private static class Wrapped implements Coordinator {
        private final Coordinator ours;

        Wrapped(Coordinator ours) {
            this.ours = ours;
        }

        @Override
        public SessionState state() {
            return ours.state();
        }

        @Override
        public Registration onStateChange(Consumer<SessionState> listener) {
            return ours.onStateChange(listener);
        }

        @Override
        public Registration onRejection(Consumer<CredentialsRejectedException> listener) {
            return ours.onRejection(listener);
        }

        @Override
        public <R> CompletableFuture<R> submit(Request<R> request) {
            return ours.submit(request);
        }

        @Override
        public <R> R execute(Request<R> request) throws InterruptedException {
            return ours.execute(request);
        }

        @Override
        public <T> T unwrap(Class<T> type) {
            return ours.unwrap(type);
        }

        @Override
        public void close() {
            ours.close();
        }
    }

    @Test
    void unknownSchemeIsRefusedWithThoseThatThereAre() {
        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> Coordinator.connect("redis://localhost:6379"));
        assertTrue(refusal.getMessage().contains("redis://localhost:6379"), refusal::getMessage);
        assertTrue(refusal.getMessage().contains("memory"), refusal::getMessage);
    }

    @Test
    void noConnectionInTimeIsAnError() {
        faults.suspendAll();
        ConnectException failure = assertThrows(
                ConnectException.class,
                () -> builder().connectTimeout(Duration.ofMillis(200)).connect());
        assertTrue(failure.getMessage().contains(store), failure::getMessage);
    }

    @Test
    void connectsWithoutBlocking() throws Exception {
        try (Coordinator connected = builder().connectAsync().get(120, SECONDS)) {
            assertEquals(SessionState.CONNECTED, connected.state());
            connected.execute(Create.of(NodePath.of("/made-after-connect-async")));
        }
        faults.suspendAll();
        CompletableFuture<Coordinator> late =
                builder().connectTimeout(Duration.ofMillis(200)).connectAsync();
        ExecutionException failure = assertThrows(ExecutionException.class, () -> late.get(120, SECONDS));
        assertTrue(failure.getCause() instanceof ConnectException, failure::toString);
    }

    @Test
    void connectThatIsCancelledLeavesNoSessionBehind() {
        java.util.Set<Long> before = faults.liveSessions();
        faults.suspendAll();
        CompletableFuture<Coordinator> cancelled =
                builder().connectTimeout(Duration.ofMinutes(10)).connectAsync();
        assertTrue(cancelled.cancel(true));
        assertTrue(cancelled.isCancelled());
        faults.restoreAll();
        await().until(() -> before.containsAll(faults.liveSessions()));
        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("conclave-connect memory:" + store)));
    }

    @Test
    void settingsOutOfRangeAreRefusedByName() {
        assertTrue(assertThrows(IllegalArgumentException.class, () -> builder().sessionTimeout(Duration.ofMillis(1)))
                .getMessage()
                .contains("PT0.001S"));
        assertThrows(IllegalArgumentException.class, () -> builder().connectTimeout(Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> builder().namespace("app"));
        assertThrows(IllegalArgumentException.class, () -> builder().generation(-1));
        assertThrows(IllegalArgumentException.class, () -> builder().maxQueuedRequests(0));
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
