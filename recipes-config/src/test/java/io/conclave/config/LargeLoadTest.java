package io.conclave.config;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import io.conclave.request.Sync;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.ForwardingSession;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a cache asks for at a time when it loads much, as over a slow link. */
class LargeLoadTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int CHILDREN = 100;
    private static final int BYTES = 100_000;

    @RegisterExtension
    final TestStore store = new TestStore();

    private final ManualTimeSource process = new ManualTimeSource();
    private final Faults faults = store.faults();
    private final AtomicInteger awaited = new AtomicInteger();
    private final AtomicInteger mostAwaited = new AtomicInteger();

    @BeforeEach
    void fill() throws Exception {
        try (Coordinator operator = store.connect()) {
            operator.execute(Create.of(NodePath.of("/cached")));
            for (int i = 0; i < CHILDREN; i++) {
                operator.execute(Create.of(NodePath.of("/cached/" + i)).withData(new byte[BYTES]));
            }
        }
    }

    private Coordinator connect() {
        return store.connect(process);
    }

    private static void awaitDispatcher(RecipeSession session) throws Exception {
        CompletableFuture<Void> behind = new CompletableFuture<>();
        session.execute(() -> behind.complete(null));
        behind.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    /** They would come before all that is read again, and be read twice. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void readsThatWereLostAreNotSentBeforeAllIsReadAgain(boolean persistentWatches) throws Exception {
        if (!persistentWatches) {
            faults.withoutPersistentWatches();
        }
        try (Coordinator coordinator = connect()) {
            RecipeSession session = RecipeAccess.session(coordinator);
            List<Request<?>> requests = new CopyOnWriteArrayList<>();
            AtomicBoolean holding = new AtomicBoolean();
            faults.intercept((sessionId, request, index) -> {
                requests.add(request);
                if (request instanceof GetData && holding.compareAndSet(false, true)) {
                    faults.holdReplies(sessionId);
                }
                return RequestFate.PROCEED;
            });
            ChildrenCache cache = ChildrenCache.at(coordinator, "/cached");
            await().atMost(PATIENCE).until(holding::get);
            awaitDispatcher(session); // which sends all that it may send
            faults.suspend(session.id());
            awaitDispatcher(session); // which hears that all is lost
            int before = requests.size();
            faults.restore(session.id());
            cache.awaitLoaded(PATIENCE);
            assertTrue(requests.get(before) instanceof Sync, requests.get(before)::toString);
            long reads = requests.stream()
                    .skip(before)
                    .filter(GetData.class::isInstance)
                    .count();
            assertEquals(CHILDREN, reads);
            assertEquals(CHILDREN, cache.children().size());
        }
    }

    private BackendSession counting(BackendSession session) {
        return new ForwardingSession(session) {
            @Override
            public <R> CompletionStage<R> submit(Request<R> request) {
                CompletionStage<R> answer = super.submit(request);
                if (!(request instanceof GetData)) {
                    return answer;
                }
                mostAwaited.accumulateAndGet(awaited.incrementAndGet(), Math::max);
                return answer.whenComplete((data, failure) -> awaited.decrementAndGet());
            }
        };
    }

    /** A ping's answer comes behind all of them. */
    @Test
    void aboutAMegabyteOfAnswersIsAwaitedAtATime() throws Exception {
        faults.plant(process, this::counting);
        try (Coordinator coordinator = connect();
                ChildrenCache cache = ChildrenCache.at(coordinator, "/cached")) {
            cache.awaitLoaded(PATIENCE);
            assertEquals(CHILDREN, cache.children().size());
            assertTrue(mostAwaited.get() <= 20, mostAwaited + " awaited before the size of any is known");
            RecipeSession session = RecipeAccess.session(coordinator);
            mostAwaited.set(0);
            faults.drop(session.id());
            await().atMost(PATIENCE).until(() -> session.connectionNumber() > 1 && cache.isCurrent());
            assertTrue(mostAwaited.get() <= 12, mostAwaited + " awaited of " + BYTES + " bytes each");
        }
    }
}
