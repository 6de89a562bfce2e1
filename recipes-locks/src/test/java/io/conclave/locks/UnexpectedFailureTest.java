package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.GrantLostException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.testkit.memory.MemoryStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * An unforeseen failure ends in an answer to the caller, and in a free lock; never in a stage that stays open.
 */
class UnexpectedFailureTest {
    private static final String PATH = "/locks/unexpected";

    private final String store = UUID.randomUUID().toString();

    private Coordinator connect(String scheme) {
        return Coordinator.builder(scheme + ":" + store)
                .sessionTimeout(Duration.ofSeconds(30))
                .connect();
    }

    @AfterEach
    void forget() {
        MemoryStore.forget(store);
    }

    private static Throwable failureOf(CompletableFuture<?> stage) {
        return assertThrows(ExecutionException.class, () -> stage.get(120, SECONDS))
                .getCause();
    }

    @Test
    void downgradeWithAnUnexpectedReplyFailsAndLeavesTheLockFree() throws Exception {
        try (Coordinator torn = connect("torn-answers");
                Coordinator sound = connect("memory")) {
            SharedLock lock = SharedLock.at(torn, PATH);
            WriteGrant writing = lock.writeLock().acquire();
            assertInstanceOf(GrantLostException.class, failureOf(writing.downgradeAsync()));
            assertFalse(writing.isHeld());
            SharedLock.at(sound, PATH)
                    .writeLock()
                    .acquire(Duration.ofSeconds(20))
                    .close();
        }
    }

    @Test
    void writerThatIsClosedBeforeAnAnswerThatMakesNoSenseLeavesTheLockFree() throws Exception {
        try (Coordinator torn = connect("torn-answers");
                Coordinator sound = connect("memory")) {
            long session = RecipeAccess.session(torn).id();
            WriteGrant writing = SharedLock.at(torn, PATH).writeLock().acquire();
            MemoryStore.named(store).faults().holdReplies(session);
            CompletableFuture<ReadGrant> downgrade = writing.downgradeAsync();
            CompletableFuture<Void> closed = writing.closeAsync().toCompletableFuture();
            MemoryStore.named(store).faults().releaseReplies(session);
            failureOf(downgrade);
            closed.get(120, SECONDS);
            await().until(() -> SharedLock.at(sound, PATH).holders().isEmpty());
        }
    }

    @Test
    void multiLockThatCannotEnterALineFailsAndGivesBackWhatItHad() throws Exception {
        try (Coordinator sound = connect("memory")) {
            AtomicBoolean isBroken = new AtomicBoolean();
            DistributedLock first = DistributedLock.at(sound, PATH + "/a");
            DistributedLock second = DistributedLock.at(failing(sound, isBroken), PATH + "/b");
            MultiLock both = MultiLock.of(List.of(first, second));
            isBroken.set(true);
            assertInstanceOf(OutcomeUnknownException.class, failureOf(both.acquireAsync()));
            await().until(() -> first.members().isEmpty()); // the failure waits for the deletion for a second only
        }
    }

    @Test
    void aLockIsTakenThroughAProxyThatAContainerHasPutAroundTheCoordinator() throws Exception {
        try (Coordinator sound = connect("memory")) {
            Coordinator proxy = failing(sound, new AtomicBoolean());
            DistributedLock.at(proxy, PATH).acquire(Duration.ofSeconds(20)).close();
            assertThrows(IllegalArgumentException.class, () -> proxy.unwrap(String.class));
        }
    }

    private static Coordinator failing(Coordinator coordinator, AtomicBoolean isBroken) {
        return (Coordinator) Proxy.newProxyInstance(
                Coordinator.class.getClassLoader(), new Class<?>[] {Coordinator.class}, (proxy, method, arguments) -> {
                    if (isBroken.get() && method.getName().equals("unwrap")) {
                        throw new IllegalStateException("no session");
                    }
                    try {
                        return method.invoke(coordinator, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
