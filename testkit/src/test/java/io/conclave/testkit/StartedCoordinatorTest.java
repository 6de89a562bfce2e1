package io.conclave.testkit;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.Acl;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.RemoveWatch;
import io.conclave.request.Request;
import io.conclave.request.Watcher;
import io.conclave.session.Authentication;
import io.conclave.session.SessionState;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.ForwardingSession;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A coordinator that was started while the store could not be reached. */
class StartedCoordinatorTest {
    private static final NodePath A = NodePath.of("/a");
    private static final NodePath BASE = NodePath.of("/app/one");
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();
    private final List<Coordinator> opened = new ArrayList<>();

    @AfterEach
    void close() {
        faults.clear();
        opened.forEach(Coordinator::close);
        MemoryStore.forget(store);
    }

    private CoordinatorBuilder builder() {
        return Coordinator.builder("memory:" + store).sessionTimeout(Duration.ofMinutes(1));
    }

    private CoordinatorBuilder inNamespace() {
        return builder().namespace(BASE);
    }

    private Coordinator started(CoordinatorBuilder builder) {
        Coordinator coordinator = builder.start();
        opened.add(coordinator);
        return coordinator;
    }

    private Coordinator operator() {
        Coordinator coordinator = builder().connect();
        opened.add(coordinator);
        return coordinator;
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(PATIENCE.toSeconds(), SECONDS);
    }

    private static <T extends Throwable> T failureOf(CompletableFuture<?> future, Class<T> kind) {
        return assertInstanceOf(
                kind, assertThrows(ExecutionException.class, () -> get(future)).getCause());
    }

    private static Predicate<Request<?>> creationOf(NodePath path) {
        return request -> request instanceof Create create && create.path().equals(path);
    }

    @Test
    void requestsWaitForTheFirstConnectionAndAreExecutedInOrder() throws Exception {
        faults.suspendAll();
        Coordinator coordinator = started(builder());
        BlockingQueue<SessionState> states = new LinkedBlockingQueue<>();
        coordinator.onStateChange(states::add);
        assertEquals(SessionState.CONNECTING, coordinator.state());
        CompletableFuture<?> parent = coordinator.submit(Create.of(A));
        CompletableFuture<?> child = coordinator.submit(Create.of(A.child("b")));
        assertFalse(parent.isDone() || child.isDone());
        faults.restoreAll();
        get(parent);
        get(child);
        assertEquals(SessionState.CONNECTED, states.poll(PATIENCE.toSeconds(), SECONDS));
        assertEquals(SessionState.CONNECTED, coordinator.state());
        assertTrue(states.isEmpty(), states::toString);
    }

    @Test
    void theNamespaceIsMadeBeforeTheFirstRequestIsExecuted() throws Exception {
        faults.suspendAll();
        Coordinator coordinator = started(inNamespace());
        CompletableFuture<Create.Created> first = coordinator.submit(Create.of(A));
        CompletableFuture<?> below = coordinator.submit(Create.of(A.child("b")));
        faults.restoreAll();
        assertEquals(A, get(first).path());
        get(below);
        assertTrue(operator().execute(Exists.of(NodePath.of("/app/one/a/b"))).isPresent());
    }

    @Test
    void aNamespaceThatIsThereCostsOneRequest() throws Exception {
        Coordinator operator = operator();
        operator.execute(Create.of(BASE.parent().orElseThrow()));
        operator.execute(Create.of(BASE));
        long before = faults.requestCount();
        Coordinator coordinator = started(inNamespace());
        coordinator.execute(Create.of(A));
        assertEquals(2, faults.requestCount() - before);
        BlockingQueue<SessionState> states = new LinkedBlockingQueue<>();
        coordinator.onStateChange(states::add);
        faults.expire(RecipeAccess.session(coordinator).id());
        assertEquals(SessionState.LOST, states.poll(PATIENCE.toSeconds(), SECONDS));
        coordinator.execute(Exists.of(A));
        assertEquals(3, faults.requestCount() - before, "the next session need not ask again");
    }

    /** What was submitted while the creation's reply was lost must not overtake the creation that is sent again. */
    @ParameterizedTest
    @EnumSource(
            value = RequestFate.class,
            names = {"DROP_BEFORE", "DROP_AFTER", "DROP_AND_APPLY_LATE"})
    void aLostReplyToTheCreationOfTheNamespaceIsNotSeenByRequests(RequestFate fate) throws Exception {
        for (NodePath level : List.of(BASE.parent().orElseThrow(), BASE)) {
            faults.suspendAll();
            faults.onNext(creationOf(level), fate);
            Coordinator coordinator = started(inNamespace());
            CompletableFuture<?> first = coordinator.submit(Create.of(A));
            CompletableFuture<?> second = coordinator.submit(Create.of(A.child("b")));
            faults.restoreAll();
            get(first);
            get(second);
            coordinator.close();
            faults.deleteAsOperator(NodePath.of("/app"));
        }
    }

    /** A session that ends before its namespace is there: its requests end, the next session makes the namespace. */
    @ParameterizedTest
    @EnumSource(
            value = RequestFate.class,
            names = {"EXPIRE_BEFORE", "EXPIRE_AFTER"})
    void aSessionThatIsLostBeforeTheNamespaceIsThereEndsItsRequests(RequestFate fate) throws Exception {
        for (NodePath level : List.of(BASE.parent().orElseThrow(), BASE)) {
            faults.suspendAll();
            faults.onNext(creationOf(level), fate);
            Coordinator coordinator = started(inNamespace());
            CompletableFuture<?> first = coordinator.submit(Create.of(A));
            CompletableFuture<?> second = coordinator.submit(Exists.of(A));
            faults.restoreAll();
            failureOf(first, SessionGoneException.class);
            failureOf(second, SessionGoneException.class);
            await().atMost(PATIENCE).until(() -> coordinator.state() == SessionState.CONNECTED);
            coordinator.execute(Create.of(A));
            coordinator.close();
            faults.deleteAsOperator(NodePath.of("/app"));
        }
    }

    @Test
    void aReplyThatIsHeldHoldsTheRequestsBack() throws Exception {
        faults.suspendAll();
        faults.onNext(creationOf(BASE.parent().orElseThrow()), RequestFate.HOLD_REPLY);
        Coordinator coordinator = started(inNamespace());
        CompletableFuture<?> first = coordinator.submit(Create.of(A));
        faults.restoreAll();
        await().atMost(PATIENCE).until(() -> faults.requestCount() >= 2);
        assertFalse(first.isDone());
        assertEquals(2, faults.requestCount(), "the namespace is missing, its parent's creation is not answered");
        faults.releaseReplies(RecipeAccess.session(coordinator).id());
        get(first);
    }

    /** The only identity that may create children of {@code /app}, which all may read. */
    private Coordinator owner() throws Exception {
        Coordinator owner =
                builder().authentication(Authentication.digest("bob", "secret")).connect();
        opened.add(owner);
        List<Acl.Entry> entries = new ArrayList<>(Acl.CREATOR_ONLY.entries());
        entries.addAll(Acl.READ_ONLY.entries());
        owner.execute(Create.of(NodePath.of("/app")).withAcl(new Acl(entries)));
        return owner;
    }

    @Test
    void aNamespaceThatMayNotBeMadeIsEnoughIfItIsThere() throws Exception {
        owner().execute(Create.of(BASE).withAcl(Acl.OPEN));
        started(inNamespace()).execute(Create.of(A));
    }

    /** The request that looks for it has no effect, so a lost reply to it is not for those that wait to find out. */
    @ParameterizedTest
    @EnumSource(
            value = RequestFate.class,
            names = {"DROP_BEFORE", "DROP_AFTER"})
    void aLostReplyToTheSearchForTheNamespaceIsNotSeenByRequests(RequestFate fate) throws Exception {
        owner().execute(Create.of(BASE).withAcl(Acl.OPEN));
        faults.suspendAll();
        faults.onNext(
                request -> request instanceof Exists exists && exists.path().equals(BASE), fate);
        Coordinator coordinator = started(inNamespace());
        CompletableFuture<?> first = coordinator.submit(Create.of(A));
        CompletableFuture<?> second = coordinator.submit(Create.of(A.child("b")));
        faults.restoreAll();
        get(first);
        get(second);
    }

    @Test
    void requestsAreRefusedWhileTheNamespaceCannotBeMade() throws Exception {
        Coordinator owner = owner();
        faults.suspendAll();
        Coordinator coordinator = started(inNamespace());
        CompletableFuture<?> first = coordinator.submit(Create.of(A));
        CompletableFuture<?> second = coordinator.submit(GetChildren.of(NodePath.ROOT));
        faults.restoreAll();
        RefusedException refusal = failureOf(first, RefusedException.class);
        assertEquals(RefusalReason.NO_AUTH, refusal.reason());
        assertTrue(refusal.getMessage().contains("the namespace " + BASE), refusal::getMessage);
        failureOf(second, RefusedException.class);
        assertThrows(RefusedException.class, () -> coordinator.execute(Exists.of(A)));
        assertEquals(SessionState.CONNECTED, coordinator.state());
        owner.execute(Create.of(BASE).withAcl(Acl.OPEN));
        coordinator.execute(Create.of(A));
        coordinator.execute(Create.of(A.child("b")));
    }

    /** Servers that take no writes at the moment: the disk is full, say. */
    @Test
    void aNamespaceThatIsThereServesReadsWhileTheServersTakeNoWrites() throws Exception {
        ManualTimeSource process = new ManualTimeSource();
        faults.plant(process, ReadOnlySession::new);
        Coordinator without = started(inNamespace().timeSource(process));
        RefusedException refusal = assertThrows(RefusedException.class, () -> without.execute(Exists.of(A)));
        assertEquals(RefusalReason.NOT_WRITABLE, refusal.reason());
        Coordinator operator = operator();
        operator.execute(Create.of(BASE.parent().orElseThrow()));
        operator.execute(Create.of(BASE));
        assertTrue(without.execute(Exists.of(A)).isEmpty());
        refusal = assertThrows(RefusedException.class, () -> without.execute(Create.of(A)));
        assertEquals(RefusalReason.NOT_WRITABLE, refusal.reason());
    }

    /** Refuses what writes. */
    private static final class ReadOnlySession extends ForwardingSession {
        ReadOnlySession(BackendSession sound) {
            super(sound);
        }

        @Override
        public <R> CompletionStage<R> submit(Request<R> request) {
            return request.isRead()
                    ? super.submit(request)
                    : failed(new RefusedException(RefusalReason.NOT_WRITABLE, request.describe()));
        }
    }

    @Test
    void closingBeforeTheFirstConnectionEndsAllThatWaits() {
        faults.suspendAll();
        for (CoordinatorBuilder builder : List.of(builder(), inNamespace())) {
            Coordinator coordinator = started(builder);
            BlockingQueue<SessionState> states = new LinkedBlockingQueue<>();
            coordinator.onStateChange(states::add);
            CompletableFuture<?> write = coordinator.submit(Create.of(A));
            CompletableFuture<?> read = coordinator.submit(Exists.of(A));
            coordinator.close();
            failureOf(write, ClosedException.class);
            failureOf(read, ClosedException.class);
            failureOf(coordinator.submit(Exists.of(A)), ClosedException.class);
            assertEquals(SessionState.CLOSED, coordinator.state());
            await().atMost(PATIENCE).until(() -> List.copyOf(states).equals(List.of(SessionState.CLOSED)));
        }
        faults.restoreAll();
        assertTrue(faults.liveSessions().isEmpty(), "no session was opened");
    }

    @Test
    void requestsBeyondTheBoundAreRefused() throws Exception {
        faults.suspendAll();
        for (CoordinatorBuilder builder : List.of(builder(), inNamespace())) {
            Coordinator coordinator = started(builder.maxQueuedRequests(3));
            List<CompletableFuture<?>> all = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                all.add(coordinator.submit(Create.of(A.child("n" + i))));
            }
            RefusedException refusal = failureOf(all.get(4), RefusedException.class);
            assertEquals(RefusalReason.LIMIT_EXCEEDED, refusal.reason());
            assertFalse(all.get(0).isDone());
            coordinator.close();
            failureOf(all.get(0), ClosedException.class);
        }
    }

    @Test
    void theRemovalOfAWatchWaitsBesideAFullQueue() throws Exception {
        for (CoordinatorBuilder builder : List.of(builder(), inNamespace())) {
            faults.suspendAll();
            Coordinator coordinator = started(builder.maxQueuedRequests(1));
            Watcher watcher = event -> {};
            CompletableFuture<?> watched = coordinator.submit(Exists.of(A).withWatcher(watcher));
            CompletableFuture<?> removed = coordinator.submit(new RemoveWatch(A, watcher));
            faults.restoreAll();
            watched.get(PATIENCE.toSeconds(), SECONDS);
            removed.get(PATIENCE.toSeconds(), SECONDS);
        }
    }

    @Test
    void anInterruptedThreadStartsACoordinatorAndStaysInterrupted() throws Exception {
        faults.suspendAll();
        Thread.currentThread().interrupt();
        Coordinator coordinator = started(inNamespace());
        assertTrue(Thread.interrupted());
        faults.restoreAll();
        coordinator.execute(Create.of(A));
    }

    @Test
    void errorsInTheConnectStringAreReportedAtOnce() {
        assertThrows(IllegalArgumentException.class, () -> Coordinator.start("redis://localhost"));
        assertThrows(IllegalArgumentException.class, () -> Coordinator.start("memory://localhost:2181"));
        assertThrows(IllegalArgumentException.class, () -> Coordinator.start("no connect string"));
    }

    /** The backend throws when a session is opened, as it does if no thread can be started. */
    @Test
    void aFirstSessionThatCannotBeOpenedIsTriedAgainAndNotCalledLost() throws Exception {
        ManualTimeSource clock = new ManualTimeSource();
        AtomicInteger losses = new AtomicInteger();
        FailingOpenBackend.failuresLeft(store).set(3);
        Coordinator coordinator = started(Coordinator.builder("failing-open:" + store)
                .timeSource(clock)
                .namespace("/app")
                .metrics(new MetricsHook() {
                    @Override
                    public void count(String name, String subject) {
                        if (name.equals("session.lost")) {
                            losses.incrementAndGet();
                        }
                    }
                }));
        BlockingQueue<SessionState> states = new LinkedBlockingQueue<>();
        coordinator.onStateChange(states::add);
        assertEquals(SessionState.CONNECTING, coordinator.state());
        CompletableFuture<?> early = coordinator.submit(Create.of(A));
        clock.advanceUntil(Duration.ofMillis(100), () -> coordinator.state() == SessionState.CONNECTED);
        failureOf(early, SessionGoneException.class);
        coordinator.execute(Create.of(A));
        await().atMost(PATIENCE).until(() -> List.copyOf(states).equals(List.of(SessionState.CONNECTED)));
        assertEquals(0, losses.get());
    }

    @Test
    void closingWhileNoSessionCanBeOpenedEndsAllThatWaits() {
        FailingOpenBackend.failuresLeft(store).set(Integer.MAX_VALUE);
        Coordinator coordinator = started(Coordinator.builder("failing-open:" + store)
                .timeSource(new ManualTimeSource())
                .namespace("/app"));
        CompletableFuture<?> request = coordinator.submit(Create.of(A));
        coordinator.close();
        failureOf(request, ClosedException.class);
    }

    /** A write that was under way is not repeated by the coordinator, whether it was the first or a later one. */
    @Test
    void aLostReplyToTheFirstRequestIsTheCallersToFindOut() throws Exception {
        faults.suspendAll();
        Coordinator coordinator = started(inNamespace());
        faults.onNext(creationOf(BASE.child("a")), RequestFate.DROP_AFTER);
        CompletableFuture<?> first = coordinator.submit(Create.of(A));
        faults.restoreAll();
        failureOf(first, OutcomeUnknownException.class);
        assertTrue(coordinator.execute(Exists.of(A)).isPresent());
    }

    /** It should have answered. What follows the failure comes behind the others, and none is handed on twice. */
    @Test
    void aRequestThatTheBackendThrowsForDoesNotDisturbTheOthersThatWait() throws Exception {
        ManualTimeSource process = new ManualTimeSource();
        faults.plant(process, session -> throwingFor(creationOf(BASE.child("a")), session));
        faults.suspendAll();
        RecipeSession session = RecipeAccess.session(started(inNamespace().timeSource(process)));
        CompletableFuture<?> afterFailure = session.submit(Create.of(A))
                .handle((created, failure) -> session.submit(Create.of(NodePath.of("/last"))))
                .thenCompose(last -> last)
                .toCompletableFuture();
        session.submit(Create.of(NodePath.of("/n-")).withMode(CreateMode.PERSISTENT_SEQUENTIAL));
        faults.restoreAll();
        get(afterFailure);
        assertEquals(
                List.of("last", "n-0000000000"),
                operator().execute(GetChildren.of(BASE)).names().stream()
                        .sorted()
                        .toList());
    }

    private static BackendSession throwingFor(Predicate<Request<?>> which, BackendSession session) {
        return new ForwardingSession(session) {
            @Override
            public <R> CompletionStage<R> submit(Request<R> request) {
                if (which.test(request)) {
                    throw new IllegalStateException("not answered");
                }
                return super.submit(request);
            }
        };
    }
}
