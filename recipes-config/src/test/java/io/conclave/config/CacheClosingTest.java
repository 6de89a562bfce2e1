package io.conclave.config;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a cache leaves behind, and which callers it keeps waiting. */
class CacheClosingTest {
    @RegisterExtension
    final TestStore store = new TestStore();

    @Test
    void cacheThatIsClosedWhileItLoadsLeavesNoOneShotWatch() throws InterruptedException {
        store.faults().withoutPersistentWatches();
        try (Coordinator coordinator = store.connect()) {
            for (int i = 0; i < 20; i++) {
                coordinator.execute(Create.of(NodePath.of("/child" + i)));
            }
            long session = RecipeAccess.session(coordinator).id();
            store.faults().holdReplies(session);
            SubtreeCache cache = SubtreeCache.at(coordinator, "/");
            CountDownLatch closed = new CountDownLatch(1);
            store.faults().intercept((from, request, index) -> {
                if (request instanceof GetData get && !get.path().isRoot()) {
                    cache.close(); // its children are being read
                    closed.countDown();
                }
                return RequestFate.PROCEED;
            });
            store.faults().releaseReplies(session);
            assertTrue(closed.await(120, SECONDS));
            await().pollDelay(Duration.ZERO).until(() -> store.faults().watchCount(session) == 0);
        }
    }

    /** As it comes before the close is noticed. */
    @Test
    void failureOfWhatAClosedCacheHasNotLoadedComesPlain() throws Exception {
        try (Coordinator coordinator = store.connect()) {
            long session = RecipeAccess.session(coordinator).id();
            store.faults().holdReplies(session);
            SubtreeCache cache = SubtreeCache.at(coordinator, "/");
            cache.close();
            await().until(() -> cache.loaded().isDone());
            Throwable failure = cache.loaded().handle((loaded, cause) -> cause).get(120, SECONDS);
            assertInstanceOf(ClosedException.class, failure);
            store.faults().releaseReplies(session);
        }
    }

    @Test
    void closedCacheNotifiesNoListener() throws InterruptedException {
        try (Coordinator coordinator = store.connect()) {
            List<Object> told = Collections.synchronizedList(new ArrayList<>());
            NodeCache closed = NodeCache.at(coordinator, "/");
            closed.awaitLoaded(Duration.ofSeconds(20));
            closed.close();
            closed.onChange(told::add);
            NodeCache open = NodeCache.at(coordinator, "/");
            CountDownLatch heard = new CountDownLatch(1);
            open.onChange(changes -> heard.countDown());
            assertTrue(heard.await(120, SECONDS));
            assertTrue(told.isEmpty(), told::toString);
        }
    }

    @Test
    void continuationThatBlocksOnceTheCacheIsLoadedHoldsUpNoOther() throws Exception {
        try (Coordinator coordinator = store.connect()) {
            store.faults().holdReplies(RecipeAccess.session(coordinator).id());
            NodeCache cache = NodeCache.at(coordinator, "/");
            CompletableFuture<Void> first = cache.loaded();
            CountDownLatch over = new CountDownLatch(1);
            CompletableFuture<Boolean> blocked = cache.loaded().thenApply(loaded -> {
                try {
                    return over.await(120, SECONDS);
                } catch (InterruptedException e) {
                    return false;
                }
            });
            assertFalse(first.isDone());
            store.faults().releaseReplies(RecipeAccess.session(coordinator).id());
            first.get(120, SECONDS);
            over.countDown();
            assertTrue(blocked.get(120, SECONDS));
        }
    }
}
