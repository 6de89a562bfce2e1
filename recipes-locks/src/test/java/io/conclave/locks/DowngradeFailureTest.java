package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.node.Acl;
import io.conclave.node.Permission;
import io.conclave.request.Multi;
import io.conclave.request.SetAcl;
import io.conclave.request.Sync;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a downgrade says that failed while it was being found out which znode is there. */
class DowngradeFailureTest {
    private static final String PATH = "/locks/downgraded";

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Faults faults = store.faults();
    private Coordinator coordinator;
    private SharedLock lock;

    @BeforeEach
    void connect() {
        coordinator = store.opened(store.builder().sessionTimeout(Duration.ofSeconds(30)));
        lock = SharedLock.at(coordinator, PATH);
    }

    private Throwable failureOf(CompletableFuture<ReadGrant> downgrade) {
        return assertThrows(ExecutionException.class, () -> downgrade.get(120, SECONDS))
                .getCause();
    }

    @Test
    void closingAWriterOverALostConnectionReportsItsRelease() throws Exception {
        WriteGrant writing = lock.writeLock().acquire();
        AtomicBoolean closed = new AtomicBoolean();
        faults.onNext(Multi.class::isInstance, RequestFate.DROP_AFTER);
        faults.intercept((session, request, index) -> {
            if (request instanceof Sync && closed.compareAndSet(false, true)) {
                writing.closeAsync();
                return RequestFate.DROP_BEFORE;
            }
            return RequestFate.PROCEED;
        });
        assertInstanceOf(ClosedException.class, failureOf(writing.downgradeAsync()));
        writing.closeAsync().toCompletableFuture().get(120, SECONDS);
        assertEquals(0, lock.members().size());
        lock.writeLock().acquire(Duration.ofSeconds(20)).close();
    }

    @Test
    void writerThatCannotFindOutWhatItIsSaysThatItIsLostAndNotThatItHoldsAsBefore() throws Exception {
        WriteGrant writing = lock.writeLock().acquire();
        long session = RecipeAccess.session(coordinator).id();
        await().until(() -> faults.watchCount(session) == 1); // then it is read no more
        coordinator.execute(SetAcl.of(
                writing.path(),
                new Acl(List.of(new Acl.Entry(EnumSet.of(Permission.ADMIN), "world", "anyone"))))); // it cannot be read
        faults.onNext(Multi.class::isInstance, RequestFate.DROP_BEFORE);
        assertInstanceOf(GrantLostException.class, failureOf(writing.downgradeAsync()));
        assertFalse(writing.isHeld());
        assertEquals(LossReason.REFUSED, writing.lost().toCompletableFuture().get(120, SECONDS));
    }
}
