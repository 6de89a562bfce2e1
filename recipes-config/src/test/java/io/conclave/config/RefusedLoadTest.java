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
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.session.Authentication;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.ForwardingSession;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a cache needs before it reads is refused at first: its watch, or the coordinator's namespace. */
class RefusedLoadTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration STEP = Duration.ofMillis(100);

    @RegisterExtension
    final TestStore store = new TestStore();

    private final ManualTimeSource process = new ManualTimeSource();
    private final AtomicBoolean refusesWatches = new AtomicBoolean(true);
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger read = new AtomicInteger();

    private CoordinatorBuilder builder() {
        return store.builder().sessionTimeout(Duration.ofHours(1));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    /** As a server that has too many watches. */
    private BackendSession refusingWatches(BackendSession session) {
        return new ForwardingSession(session) {
            @Override
            public <R> CompletionStage<R> submit(Request<R> request) {
                if (request instanceof AddWatch && refusesWatches.get()) {
                    dispatcher().execute(refused::incrementAndGet);
                    return failed(new RefusedException(RefusalReason.LIMIT_EXCEEDED, "too many watches"));
                }
                CompletionStage<R> answer = super.submit(request);
                if (request instanceof GetData) {
                    answer.thenRun(read::incrementAndGet);
                }
                return answer;
            }
        };
    }

    @Test
    void aZnodeThatChangesBeforeTheWatchIsAcceptedIsReadAgain() throws Exception {
        Coordinator operator = store.opened(builder());
        NodePath path = NodePath.of("/cached");
        operator.execute(Create.of(path).withData(bytes("old")));
        store.faults().plant(process, this::refusingWatches);
        Coordinator coordinator = store.opened(builder().timeSource(process));
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
        Coordinator owner = store.opened(builder().authentication(Authentication.digest("bob", "secret")));
        owner.execute(Create.of(NodePath.of("/app")).withAcl(Acl.CREATOR_ONLY));
        Coordinator coordinator = store.started(builder().namespace("/app/one").timeSource(process));
        NodeCache cache = NodeCache.at(coordinator, "/cached");
        long before = store.faults().requestCount();
        process.advanceUntil(
                STEP, () -> cache.loaded().isDone() || store.faults().requestCount() > before + 4);
        assertFalse(cache.loaded().isDone());
        // at once: a try that is on its way must not find the namespace without the znode
        owner.execute(new Multi(List.of(
                Create.of(NodePath.of("/app/one")).withAcl(Acl.OPEN),
                Create.of(NodePath.of("/app/one/cached")).withAcl(Acl.OPEN).withData(bytes("here")))));
        process.advanceUntil(STEP, () -> cache.loaded().isDone());
        assertEquals("here", new String(cache.node().orElseThrow().data(), UTF_8));
    }
}
