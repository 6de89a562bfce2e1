package io.conclave.junit;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What tests on a store in memory are given, and what its faults do. */
class MemoryParametersTest {
    private static final NodePath ORDERS = NodePath.of("/orders");

    @Test
    @ConclaveTest
    void coordinatorsAreTwoProcesses(Coordinator first, Coordinator second) throws InterruptedException {
        assertNotSame(first, second);
        LockGrant held = DistributedLock.at(first, "/orders").acquire();
        DistributedLock theirs = DistributedLock.at(second, "/orders");
        assertThrows(AcquireTimeoutException.class, () -> theirs.acquire(Duration.ofMillis(1)));
        held.close();
        theirs.acquire().close();
    }

    @Test
    @ConclaveTest
    void connectStringIsThatOfTheSameStore(String connectString, Coordinator given, MemoryStore store)
            throws InterruptedException {
        try (Coordinator own = Coordinator.connect(connectString)) {
            own.execute(Create.of(ORDERS));
        }
        assertTrue(given.execute(Exists.of(ORDERS)).isPresent());
        assertTrue(store.snapshot().containsKey(ORDERS));
    }

    @Test
    @ConclaveTest
    void clockStandsStillWhereATestAsksForIt(Coordinator holder, Coordinator waiter, ManualTimeSource time)
            throws InterruptedException {
        LockGrant held = DistributedLock.at(holder, "/orders").acquire();
        CompletableFuture<LockGrant> waiting =
                DistributedLock.at(waiter, "/orders").acquireAsync(Duration.ofMinutes(5));
        time.advanceUntil(Duration.ofSeconds(1), waiting::isDone);
        ExecutionException failure = assertThrows(ExecutionException.class, waiting::get);
        assertInstanceOf(AcquireTimeoutException.class, failure.getCause());
        assertTrue(held.isHeld());
    }

    @Test
    @ConclaveTest
    void clockGoesOnWhereNoTestAsksForIt(Coordinator holder, Coordinator waiter) throws InterruptedException {
        try (LockGrant held = DistributedLock.at(holder, "/orders").acquire()) {
            DistributedLock second = DistributedLock.at(waiter, "/orders");
            assertThrows(AcquireTimeoutException.class, () -> second.acquire(Duration.ofMillis(1)));
            assertTrue(held.isHeld());
        }
    }

    @Test
    @ConclaveTest
    void oneCoordinatorIsCutOff(Coordinator one, Coordinator other, ConclaveFaults faults) throws InterruptedException {
        faults.cutOff(one);
        await().until(() -> one.state() == SessionState.SUSPENDED);
        other.execute(Create.of(ORDERS));
        faults.reconnect(one);
        assertTrue(one.execute(Exists.of(ORDERS)).isPresent());
        assertEquals(SessionState.CONNECTED, other.state());
    }

    @Test
    @ConclaveTest
    void nextReplyOfOneCoordinatorIsLost(Coordinator one, Coordinator other, ConclaveFaults faults)
            throws InterruptedException {
        faults.loseNextReply(one);
        other.execute(Create.of(NodePath.of("/others")));
        assertThrows(OutcomeUnknownException.class, () -> one.execute(Create.of(ORDERS)));
        assertTrue(other.execute(Exists.of(ORDERS)).isPresent(), "it takes effect");
        one.execute(Create.of(NodePath.of("/next")));
    }

    @Test
    @ConclaveTest
    void sessionOfOneCoordinatorEnds(Coordinator one, Coordinator other, ConclaveFaults faults)
            throws InterruptedException {
        LockGrant lost = DistributedLock.at(one, "/orders").acquire();
        LockGrant kept = DistributedLock.at(other, "/others").acquire();
        faults.endSession(one);
        await().until(() -> !lost.isHeld());
        assertEquals(LossReason.SESSION_LOST, lost.lost().toCompletableFuture().join());
        assertTrue(kept.isHeld());
        await().until(() -> one.state() == SessionState.CONNECTED);
        LockGrant again = DistributedLock.at(one, "/orders").acquire();
        faults.endSession(one); // its next one
        await().until(() -> !again.isHeld());
    }

    @Test
    @ConclaveTest
    void storesOwnFaultsCanBeUsed(Coordinator coordinator, Faults faults) {
        faults.onNext(request -> request instanceof Create, RequestFate.DROP_BEFORE);
        assertThrows(OutcomeUnknownException.class, () -> coordinator.execute(Create.of(ORDERS)));
    }

    @Test
    @ConclaveTest
    void faultsOfOtherCoordinatorsAreRefused(String connectString, ConclaveFaults faults) {
        try (Coordinator own = Coordinator.connect(connectString)) {
            IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class, () -> faults.cutOff(own));
            assertTrue(refusal.getMessage().contains("are parameters of this test"), refusal.getMessage());
        }
    }

    @Test
    @ConclaveTest
    void coordinatorThatTheTestHasClosedIsNoMatter(Coordinator coordinator) {
        coordinator.close();
    }

    @ConclaveTest
    @ParameterizedTest
    @ValueSource(strings = {"/a", "/b"})
    void stringsOfAParameterizedTestAreItsArguments(String path, Coordinator coordinator) throws InterruptedException {
        assertEquals(2, path.length());
        assertFalse(coordinator.execute(Exists.of(NodePath.of(path))).isPresent());
        coordinator.execute(Create.of(NodePath.of(path)));
    }

    @ConclaveTest
    @RepeatedTest(2)
    void repetitionsHaveStoresOfTheirOwn(String connectString, Coordinator coordinator) throws InterruptedException {
        assertTrue(connectString.startsWith("memory:"), connectString);
        coordinator.execute(Create.of(ORDERS)); // refused if it were there
    }
}
