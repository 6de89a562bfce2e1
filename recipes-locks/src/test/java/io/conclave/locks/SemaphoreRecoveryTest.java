package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.session.SessionState;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an operator deletes while a semaphore's transaction is under way, or while its outcome is read. */
class SemaphoreRecoveryTest {
    private static final NodePath PATH = NodePath.of("/semaphores/recovered");
    private static final NodePath LEASES = PATH.child("leases");
    private static final NodePath LINE = PATH.child("locks");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private Coordinator coordinator;
    private DistributedSemaphore semaphore;

    @BeforeEach
    void connect() {
        coordinator = store.opened(store.builder().sessionTimeout(Duration.ofSeconds(30)));
        semaphore = DistributedSemaphore.at(coordinator, PATH, 2);
    }

    private static boolean isReadOfLease(Request<?> request) {
        return request instanceof GetData read && read.path().parent().equals(Optional.of(LEASES));
    }

    @Test
    void leaseThatIsDeletedWhileTheOthersAreFoundAgainLeavesNoneOfThemBehind() throws Exception {
        semaphore.acquire().close(); // the leases have their parent
        AtomicInteger deleted = new AtomicInteger();
        faults.onNext(Multi.class::isInstance, RequestFate.DROP_AFTER);
        faults.intercept((session, request, index) -> {
            if (isReadOfLease(request) && deleted.get() == 0) {
                deleted.incrementAndGet();
                faults.deleteAsOperator(((GetData) request).path());
            }
            return RequestFate.PROCEED;
        });
        CompletableFuture<PermitGrant> acquiring = semaphore.acquireAsync(2);
        ExecutionException failure = assertThrows(ExecutionException.class, () -> acquiring.get(120, SECONDS));
        assertInstanceOf(GrantLostException.class, failure.getCause());
        assertEquals(1, deleted.get());
        await().untilAsserted(() -> assertEquals(0, semaphore.holders().size()));
        semaphore.acquire(2, Duration.ofSeconds(20)).close();
    }

    @Test
    void headWithADeletedNodeTriesItsTransactionOnce() throws Exception {
        semaphore.acquire().close();
        AtomicInteger tried = new AtomicInteger();
        long session = RecipeAccess.session(coordinator).id();
        faults.intercept((owner, request, index) -> {
            if (request instanceof Multi) {
                tried.incrementAndGet();
                deletePlaces();
            }
            return RequestFate.PROCEED;
        });
        CompletableFuture<PermitGrant> acquiring = semaphore.acquireAsync(1);
        ExecutionException failure = assertThrows(ExecutionException.class, () -> acquiring.get(120, SECONDS));
        assertInstanceOf(GrantLostException.class, failure.getCause());
        assertEquals(1, tried.get());
        faults.clear();
        await().untilAsserted(() -> assertEquals(0, faults.watchCount(session)));
        semaphore.acquire(2, Duration.ofSeconds(20)).close();
    }

    private void deletePlaces() {
        store.memory().snapshot().keySet().stream()
                .filter(path -> path.parent().equals(Optional.of(LINE)))
                .toList()
                .forEach(faults::deleteAsOperator);
    }

    @Test
    void placeThatIsDeletedWhileTheTransactionIsInDoubtIsNotReleased() throws Exception {
        long session = RecipeAccess.session(coordinator).id();
        CompletableFuture<PermitGrant> acquiring;
        try (Coordinator other = store.connect()) {
            PermitGrant held = DistributedSemaphore.at(other, PATH, 2).acquire(2);
            acquiring = semaphore.acquireAsync(1);
            await().until(() -> faults.watchCount(session) == 2); // on the leases, and on its place
            faults.intercept((owner, request, index) -> {
                if (owner == session && request instanceof Multi) {
                    faults.suspend(session);
                    return RequestFate.DROP_BEFORE;
                }
                return RequestFate.PROCEED;
            });
            held.close();
        }
        await().until(() -> RecipeAccess.session(coordinator).state() == SessionState.SUSPENDED);
        deletePlaces();
        faults.clear();
        ExecutionException failure = assertThrows(ExecutionException.class, () -> acquiring.get(120, SECONDS));
        GrantLostException loss = assertInstanceOf(GrantLostException.class, failure.getCause());
        assertEquals(LossReason.NODE_DELETED, loss.reason());
    }
}
