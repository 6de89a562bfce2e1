package io.conclave.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.request.AddWatch;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.SetData;
import io.conclave.session.Authentication;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a cache needs before it reads is refused at first: its watch, or the coordinator's namespace. */
class RefusedLoadTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration STEP = Duration.ofMillis(100);

    private final String store = UUID.randomUUID().toString();
    private final ManualTimeSource process = new ManualTimeSource();
    private final AtomicBoolean refusesWatches = new AtomicBoolean(true);
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger read = new AtomicInteger();
    private final List<Coordinator> opened = new ArrayList<>();

    @AfterEach
    void close() {
        opened.forEach(Coordinator::close);
        MemoryStore.forget(store);
    }

    private CoordinatorBuilder builder() {
        return Coordinator.builder("memory:" + store).sessionTimeout(Duration.ofHours(1));
    }

    private Coordinator opened(Coordinator coordinator) {
        opened.add(coordinator);
        return coordinator;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    /** As a server that has too many watches. */
    private BackendSession refusingWatches(BackendSession session) {
        return (BackendSession) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {BackendSession.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("submit") && arguments[0] instanceof AddWatch && refusesWatches.get()) {
                        CompletableFuture<Object> answer = new CompletableFuture<>();
                        session.dispatcher().execute(() -> {
                            refused.incrementAndGet();
                            answer.completeExceptionally(
                                    new RefusedException(RefusalReason.LIMIT_EXCEEDED, "too many watches"));
                        });
                        return answer;
                    }
                    Object answer = method.invoke(session, arguments);
                    if (method.getName().equals("submit") && arguments[0] instanceof GetData) {
                        ((CompletableFuture<?>) answer).thenRun(read::incrementAndGet);
                    }
                    return answer;
                });
    }

    @Test
    void aZnodeThatChangesBeforeTheWatchIsAcceptedIsReadAgain() throws Exception {
        Coordinator operator = opened(builder().connect());
        NodePath path = NodePath.of("/cached");
        operator.execute(Create.of(path).withData(bytes("old")));
        MemoryStore.named(store).faults().plant(process, this::refusingWatches);
        Coordinator coordinator = opened(builder().timeSource(process).connect());
        NodeCache cache = NodeCache.at(coordinator, "/cached");
        await().atMost(PATIENCE).until(() -> refused.get() > 0 && read.get() > 0);
        assertFalse(cache.loaded().isDone());
        operator.execute(SetData.of(path, bytes("new")));
        refusesWatches.set(false);
        process.advanceUntil(STEP, () -> cache.loaded().isDone());
        assertEquals("new", new String(cache.node().orElseThrow().data(), UTF_8));
    }

    /** The refusal of the namespace is none of the znode. */
    @Test
    void aCacheIsNotEmptyBecauseTheNamespaceMayNotBeMadeYet() throws Exception {
        Coordinator owner = opened(
                builder().authentication(Authentication.digest("bob", "secret")).connect());
        owner.execute(Create.of(NodePath.of("/app")).withAcl(Acl.CREATOR_ONLY));
        Coordinator coordinator =
                opened(builder().namespace("/app/one").timeSource(process).start());
        NodeCache cache = NodeCache.at(coordinator, "/cached");
        long before = MemoryStore.named(store).faults().requestCount();
        process.advanceUntil(
                STEP,
                () -> cache.loaded().isDone()
                        || MemoryStore.named(store).faults().requestCount() > before + 4);
        assertFalse(cache.loaded().isDone());
        // at once: a try that is on its way must not find the namespace without the znode
        owner.execute(new Multi(List.of(
                Create.of(NodePath.of("/app/one")).withAcl(Acl.OPEN),
                Create.of(NodePath.of("/app/one/cached")).withAcl(Acl.OPEN).withData(bytes("here")))));
        process.advanceUntil(STEP, () -> cache.loaded().isDone());
        assertEquals("here", new String(cache.node().orElseThrow().data(), UTF_8));
    }
}
