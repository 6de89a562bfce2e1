package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Check;
import io.conclave.request.Exists;
import io.conclave.request.Multi;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Schedules in which a kept place was once kept too long, or told to a guard too late. */
class KeptLockEdgesTest {
    private static final NodePath PATH = NodePath.of("/locks/edges");
    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();
    private final List<Coordinator> open = new ArrayList<>();
    private final ManualTimeSource clock = new ManualTimeSource();

    private Coordinator connect(CoordinatorBuilder builder) {
        Coordinator coordinator = builder.connect();
        open.add(coordinator);
        return coordinator;
    }

    private CoordinatorBuilder builder() {
        return Coordinator.builder("memory:" + store).sessionTimeout(Duration.ofHours(1));
    }

    private Coordinator connect() {
        return connect(builder());
    }

    /** Cuts the connection off the moment its first lock is granted, before the caller has it. */
    private Coordinator cutOffWhenGranted() {
        AtomicReference<Long> armed = new AtomicReference<>();
        Coordinator victim = connect(builder().timeSource(clock).metrics(new MetricsHook() {
            @Override
            public void duration(String name, String subject, Duration duration) {
                Long session = name.equals("lock.wait") ? armed.getAndSet(null) : null;
                if (session != null) {
                    faults.suspend(session);
                }
            }
        }));
        armed.set(RecipeAccess.session(victim).id());
        return victim;
    }

    /** Its caller gives up when the place is held already, but may not be passed on as the connection is away. */
    private void timesOutWhileItIsCutOff(Coordinator victim) {
        KeptLock lock = DistributedLock.at(victim, PATH).kept(Keeping.idleFor(Duration.ofHours(1)));
        Duration limit = Duration.ofMillis(300);
        CompletableFuture<LockGrant> acquiring = lock.acquireAsync(limit);
        await().until(() -> victim.state() == SessionState.SUSPENDED);
        clock.advanceUntil(limit, acquiring::isDone);
        Throwable failure =
                assertThrows(CompletionException.class, acquiring::join).getCause();
        assertInstanceOf(AcquireTimeoutException.class, failure);
        assertEquals(SessionState.SUSPENDED, victim.state());
        faults.restore(RecipeAccess.session(victim).id());
        await().until(() -> victim.state() == SessionState.CONNECTED);
    }

    @AfterEach
    void close() {
        faults.clear();
        open.forEach(Coordinator::close);
        MemoryStore.forget(store);
    }

    @Test
    void noLimitOfTimeBreaksTheReleaseOnceARivalWaits() throws Exception {
        Coordinator keeping = connect();
        KeptLock lock = DistributedLock.at(keeping, PATH)
                .kept(Keeping.idleFor(Duration.ofHours(1))
                        .withHandOvers(3)
                        .withTime(Duration.ofSeconds(Long.MAX_VALUE)));
        LockGrant first = lock.acquire();
        CompletableFuture<LockGrant> behind = lock.acquireAsync();
        CompletableFuture<LockGrant> rival = DistributedLock.at(connect(), PATH).acquireAsync();
        await().until(() -> lock.members().size() == 2);
        for (int i = 0; i < 4; i++) { // the rival is seen when what follows its event is answered
            keeping.execute(Exists.of(NodePath.ROOT));
        }
        first.close();
        behind.get(120, SECONDS).close();
        rival.get(120, SECONDS).close();
    }

    @Test
    void placeGrantedWhileSuspendedWhoseCallerTimedOutGivesWay() throws Exception {
        timesOutWhileItIsCutOff(cutOffWhenGranted());
        CompletableFuture<LockGrant> rival = DistributedLock.at(connect(), PATH).acquireAsync();
        rival.get(120, SECONDS).close();
    }

    @Test
    void placeGrantedWhileSuspendedWhoseCallerTimedOutIsGivenUpWhenAsked() throws Exception {
        timesOutWhileItIsCutOff(cutOffWhenGranted());
        DistributedLock others = DistributedLock.at(connect(), PATH);
        others.requestRelease(others.holder().orElseThrow()).get(120, SECONDS);
    }

    /** absolutePath() first asked for after the release names the place of the next turn. */
    @Test
    void absolutePathAfterTheReleaseIsNoZnodeOfTheNextTurn() throws Exception {
        Coordinator c = connect();
        KeptLock lock = DistributedLock.at(c, PATH).kept(Keeping.idleFor(Duration.ofHours(1)));
        LockGrant first = lock.acquire();
        first.close();
        LockGrant second = lock.acquire();
        // what StoreGuard.of(first).execute(c, write) sends:
        NodePath late;
        try {
            late = first.absolutePath();
        } catch (GrantLostException refused) {
            return;
        }
        RecipeSession s = RecipeAccess.session(c);
        assertThrows(
                ExecutionException.class,
                () -> s.submitWhileExists(late, Multi.of(Check.exists(late)))
                        .toCompletableFuture()
                        .get(120, SECONDS),
                "a late write of " + first + " passed while " + second + " holds");
    }
}
