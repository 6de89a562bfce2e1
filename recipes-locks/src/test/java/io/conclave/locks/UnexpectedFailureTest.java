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
import io.conclave.request.Request;
import io.conclave.spi.BackendSession;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.TestStore;
import io.conclave.testkit.memory.ForwardingSession;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * An unforeseen failure ends in an answer to the caller, and in a free lock; never in a stage that stays open.
 */
class UnexpectedFailureTest {
    private static final String PATH = "/locks/unexpected";

    @RegisterExtension
    final TestStore store = new TestStore();

    /** Of a transaction's results only the first is told, which no backend may do. */
    private static final class TornSession extends ForwardingSession {
        TornSession(BackendSession sound) {
            super(sound);
        }

        @Override
        @SuppressWarnings("unchecked")
        public <R> CompletionStage<R> submit(Request<R> request) {
            return super.submit(request)
                    .thenApply(answer -> answer instanceof List<?> results ? (R) results.subList(0, 1) : answer);
        }
    }

    private Coordinator torn() {
        ManualTimeSource process = new ManualTimeSource();
        store.faults().plant(process, TornSession::new);
        return store.connect(process);
    }

    private Coordinator sound() {
        return store.opened(store.builder().sessionTimeout(Duration.ofSeconds(30)));
    }

    private static Throwable failureOf(CompletableFuture<?> stage) {
        return assertThrows(ExecutionException.class, () -> stage.get(120, SECONDS))
                .getCause();
    }

    @Test
    void downgradeWithAnUnexpectedReplyFailsAndLeavesTheLockFree() throws Exception {
        try (Coordinator torn = torn();
                Coordinator sound = sound()) {
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
        try (Coordinator torn = torn();
                Coordinator sound = sound()) {
            long session = RecipeAccess.session(torn).id();
            WriteGrant writing = SharedLock.at(torn, PATH).writeLock().acquire();
            store.faults().holdReplies(session);
            CompletableFuture<ReadGrant> downgrade = writing.downgradeAsync();
            CompletableFuture<Void> closed = writing.closeAsync().toCompletableFuture();
            store.faults().releaseReplies(session);
            failureOf(downgrade);
            closed.get(120, SECONDS);
            await().until(() -> SharedLock.at(sound, PATH).holders().isEmpty());
        }
    }

    @Test
    void multiLockThatCannotEnterALineFailsAndGivesBackWhatItHad() throws Exception {
        try (Coordinator sound = sound()) {
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
        try (Coordinator sound = sound()) {
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
