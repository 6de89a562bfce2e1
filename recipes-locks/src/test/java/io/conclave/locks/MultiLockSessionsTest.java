package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.SessionGoneException;
import io.conclave.testkit.contract.TestStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A multi-lock over two coordinators ends with either session, whichever session's lines it stands in. */
class MultiLockSessionsTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Coordinator first = connected();
    private final Coordinator second = connected();
    private final Coordinator other = connected();

    private Coordinator connected() {
        return store.opened(store.builder().sessionTimeout(Duration.ofSeconds(30)));
    }

    /** How a session ends. */
    enum End {
        CLOSED(ClosedException.class, (test, coordinator) -> coordinator.close()),
        EXPIRED(SessionGoneException.class, (test, coordinator) -> test.store
                .faults()
                .expire(RecipeAccess.session(coordinator).id()));

        private final Class<? extends Exception> failure;
        private final BiConsumer<MultiLockSessionsTest, Coordinator> way;

        End(Class<? extends Exception> failure, BiConsumer<MultiLockSessionsTest, Coordinator> way) {
            this.failure = failure;
            this.way = way;
        }
    }

    private static DistributedLock lock(Coordinator coordinator, String name) {
        return DistributedLock.at(coordinator, "/multi/" + name);
    }

    private CompletableFuture<MultiLockGrant> acquiring() {
        return MultiLock.of(lock(first, "a"), lock(second, "b")).acquireAsync();
    }

    private void awaitInLine(String name, int count) {
        await().atMost(PATIENCE)
                .untilAsserted(
                        () -> assertEquals(count, lock(other, name).members().size()));
    }

    private void assertEndsWith(End end, CompletableFuture<MultiLockGrant> acquiring) {
        ExecutionException failure = assertThrows(ExecutionException.class, () -> acquiring.get(120, SECONDS));
        assertInstanceOf(end.failure, failure.getCause());
    }

    @ParameterizedTest
    @EnumSource
    void sessionInWhoseLinesItDoesNotStandYetEndsTheWait(End end) throws Exception {
        try (LockGrant held = lock(other, "a").acquire()) {
            CompletableFuture<MultiLockGrant> acquiring = acquiring();
            awaitInLine("a", 2);
            end.way.accept(this, second);
            assertEndsWith(end, acquiring);
            awaitInLine("a", 1);
            held.ensureHeld();
        }
    }

    @ParameterizedTest
    @EnumSource
    void sessionWhoseLocksWereGivenBackEndsTheWait(End end) throws Exception {
        try (LockGrant held = lock(other, "b").acquire()) {
            CompletableFuture<MultiLockGrant> acquiring = acquiring();
            awaitInLine("b", 2);
            awaitInLine("a", 0); // it has stepped back
            end.way.accept(this, first);
            assertEndsWith(end, acquiring);
            awaitInLine("b", 1);
            held.ensureHeld();
        }
    }

    @Test
    void coordinatorThatIsClosedAlreadyEndsTheWait() throws Exception {
        try (LockGrant held = lock(other, "a").acquire()) {
            second.close();
            assertEndsWith(End.CLOSED, acquiring());
            awaitInLine("a", 1);
            held.ensureHeld();
        }
    }
}
