package io.conclave.barriers;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The coordinator is closed before it was found out what became of a write: it must not count as one never sent. */
class ClosedInDoubtTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final String store = UUID.randomUUID().toString();
    private final Faults faults = MemoryStore.named(store).faults();
    private final Coordinator coordinator = Coordinator.builder("memory:" + store)
            .sessionTimeout(Duration.ofHours(1))
            .timeSource(new ManualTimeSource())
            .connect();

    @AfterEach
    void close() {
        coordinator.close();
        MemoryStore.forget(store);
    }

    private void isUnknown(Supplier<CompletableFuture<?>> write) {
        faults.reconnectAfter(Duration.ofMinutes(1));
        faults.onNext(request -> !request.isRead(), RequestFate.DROP_AFTER);
        CompletableFuture<?> outcome = write.get();
        await().atMost(PATIENCE).until(() -> RecipeAccess.session(coordinator).state() == SessionState.SUSPENDED);
        coordinator.close();
        ExecutionException failure =
                assertThrows(ExecutionException.class, () -> outcome.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        assertEquals(OutcomeUnknownException.class, failure.getCause().getClass(), failure::toString);
    }

    @Test
    void barrierThatIsSetIsUnknown() {
        isUnknown(() -> Barrier.at(coordinator, "/barrier").setAsync());
    }

    @Test
    void barrierThatIsRemovedIsUnknown() throws Exception {
        Barrier barrier = Barrier.at(coordinator, "/barrier");
        barrier.set();
        isUnknown(barrier::removeAsync);
    }

    @Test
    void countIsUnknown() throws Exception {
        Latch latch = Latch.at(coordinator, "/latch", 2);
        latch.countDown();
        isUnknown(latch::countDownAsync);
    }
}
