package io.conclave.barriers;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.WaitTimeoutException;
import io.conclave.testkit.memory.MemoryStore;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** However a wait ends, it leaves no watch at the server. */
class LeftWatchesTest extends BarrierFixture {
    private final String store = UUID.randomUUID().toString();

    @Override
    public String connectString() {
        return "memory:" + store;
    }

    @AfterEach
    void forget() {
        MemoryStore.forget(store);
    }

    private void awaitNoWatch(Coordinator coordinator) {
        long session = RecipeAccess.session(coordinator).id();
        await().atMost(PATIENCE).until(() -> MemoryStore.named(store).faults().watchCount(session) == 0);
    }

    @Test
    void barrier() throws Exception {
        Coordinator coordinator = connect();
        Barrier barrier = Barrier.at(coordinator, PATH);
        barrier.await();
        awaitNoWatch(coordinator);
        barrier.set();
        assertThrows(WaitTimeoutException.class, () -> barrier.await(SHORT));
        awaitNoWatch(coordinator);
        barrier.awaitAsync().cancel(false);
        CompletableFuture<Void> wait = barrier.awaitAsync();
        barrier.remove();
        get(wait);
        awaitNoWatch(coordinator);
    }

    @Test
    void countDown() throws Exception {
        Coordinator coordinator = connect();
        Latch countDown = Latch.at(coordinator, PATH, 1);
        assertThrows(WaitTimeoutException.class, () -> countDown.await(SHORT));
        awaitNoWatch(coordinator);
        CompletableFuture<Void> wait = countDown.awaitAsync();
        countDown.countDown();
        get(wait);
        countDown.await();
        awaitNoWatch(coordinator);
    }

    @Test
    void doubleBarrier() throws Exception {
        Coordinator coordinator = connect();
        DoubleBarrier barrier = DoubleBarrier.at(coordinator, PATH, 3);
        assertThrows(WaitTimeoutException.class, () -> barrier.enter(SHORT));
        awaitNoWatch(coordinator);
        List<CompletableFuture<Participation>> stages =
                List.of(barrier.enterAsync(), barrier.enterAsync(), barrier.enterAsync());
        List<Participation> inside = new ArrayList<>();
        for (CompletableFuture<Participation> stage : stages) {
            inside.add(get(stage));
        }
        CompletableFuture<Participation> late = barrier.enterAsync();
        awaitChildren(coordinator, 5);
        List<CompletableFuture<Void>> leaves =
                inside.stream().map(Participation::leaveAsync).toList();
        late.cancel(false);
        for (CompletableFuture<Void> leave : leaves) {
            get(leave);
        }
        awaitNoWatch(coordinator);
        awaitChildren(coordinator, 0);
    }
}
