package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.request.Delete;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A try is not refused because of a place of its own session that is being deleted. */
class LockOwnDepartureTest {
    private static final String PATH = "/locks/tried";

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private Coordinator coordinator;
    private DistributedLock lock;

    private Coordinator connect() {
        return store.builder()
                .sessionTimeout(Duration.ofSeconds(30))
                .tryTimeout(Duration.ofMinutes(1)) // for a busy machine
                .connect();
    }

    @BeforeEach
    void open() {
        coordinator = connect();
        lock = DistributedLock.at(coordinator, PATH);
    }

    @Test
    void tryAfterACancelledUnansweredWaitGetsTheFreeLock() throws Exception {
        lock.acquire().close();
        long session = RecipeAccess.session(coordinator).id();
        faults.holdReplies(session);
        CompletableFuture<LockGrant> cancelled = lock.acquireAsync();
        cancelled.cancel(false);
        CompletableFuture<Optional<LockGrant>> tried = lock.tryAcquireAsync();
        faults.releaseReplies(session);
        assertTrue(tried.get(120, SECONDS).isPresent());
        assertEquals(1, lock.members().size());
    }

    @Test
    void tryAfterAReleaseOverALostConnectionGetsTheLock() throws Exception {
        LockGrant grant = lock.acquire();
        CompletableFuture<CompletableFuture<Optional<LockGrant>>> tried = new CompletableFuture<>();
        faults.intercept((session, request, index) -> {
            if (request instanceof Delete && !tried.isDone()) {
                tried.complete(
                        lock.tryAcquireAsync()); // before the loss is known, and so before the deletion is sent again
                return RequestFate.DROP_BEFORE;
            }
            return RequestFate.PROCEED;
        });
        grant.closeAsync();
        assertTrue(tried.get(120, SECONDS).get(120, SECONDS).isPresent());
    }

    @Test
    void tryIsRefusedWhenTheOwnNodeIsGoneAndAnotherContenderIsAhead() throws Exception {
        try (Coordinator other = connect()) {
            LockGrant grant = lock.acquire();
            CompletableFuture<LockGrant> next = DistributedLock.at(other, PATH).acquireAsync();
            await().until(() -> lock.members().size() == 2);
            faults.holdReplies(RecipeAccess.session(coordinator).id());
            CompletableFuture<LockGrant> cancelled = lock.acquireAsync();
            cancelled.cancel(false);
            CompletableFuture<Optional<LockGrant>> tried = lock.tryAcquireAsync();
            faults.releaseReplies(RecipeAccess.session(coordinator).id());
            assertTrue(tried.get(120, SECONDS).isEmpty());
            grant.close();
            next.get(120, SECONDS).close();
        }
    }
}
