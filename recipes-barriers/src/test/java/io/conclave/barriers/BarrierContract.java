package io.conclave.barriers;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.error.WaitTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What a barrier promises, on every backend; a subclass says where the backend is. */
public abstract class BarrierContract extends BarrierFixture {
    private static Barrier barrierOf(Coordinator coordinator) {
        return Barrier.at(coordinator, PATH);
    }

    @Test
    void waiterPassesAtOnceWithoutABarrier() throws Exception {
        Barrier barrier = barrierOf(connect());
        assertFalse(barrier.isSet());
        assertFalse(get(barrier.isSetAsync()));
        barrier.await();
        barrier.await(PATIENCE);
        get(barrier.awaitAsync());
    }

    @Test
    void allWaitersPassWhenTheBarrierIsRemoved() throws Exception {
        Barrier barrier = barrierOf(connect());
        barrier.set();
        assertTrue(barrier.isSet());
        assertTrue(get(barrier.isSetAsync()));
        List<CompletableFuture<Void>> waits = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            waits.add(barrierOf(connect()).awaitAsync(PATIENCE));
        }
        assertThrows(WaitTimeoutException.class, () -> barrierOf(connect()).await(SHORT));
        assertTrue(waits.stream().noneMatch(CompletableFuture::isDone));
        barrierOf(connect()).remove();
        for (CompletableFuture<Void> wait : waits) {
            get(wait);
        }
        assertFalse(barrier.isSet());
    }

    @Test
    void barrierBlocksEveryWaiterThatComesAfterSetReturned() throws Exception {
        Coordinator other = connect();
        for (int round = 0; round < 10; round++) {
            Barrier barrier = barrierOf(connect());
            barrier.set();
            CompletableFuture<Void> wait = barrierOf(other).awaitAsync();
            assertTrue(barrierOf(other).isSet());
            assertFalse(wait.isDone());
            barrier.remove();
            get(wait);
        }
    }

    @Test
    void settingAndRemovingTwiceIsAsGoodAsOnce() throws Exception {
        Barrier barrier = barrierOf(connect());
        barrier.set();
        barrierOf(connect()).set();
        barrier.remove();
        assertFalse(barrier.isSet());
        barrier.remove();
    }

    @Test
    void interruptedAndCancelledWaitsEnd() throws Exception {
        Coordinator coordinator = connect();
        Barrier barrier = barrierOf(coordinator);
        barrier.set();
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                barrier.await();
                interrupted.complete(false);
            } catch (InterruptedException e) {
                interrupted.complete(true);
            }
        });
        thread.start();
        await().atMost(PATIENCE).until(() -> thread.getState() == Thread.State.WAITING);
        thread.interrupt();
        assertTrue(get(interrupted));
        CompletableFuture<Void> wait = barrier.awaitAsync();
        assertTrue(wait.cancel(false));
        barrier.remove();
        get(barrier.awaitAsync());
    }

    @Test
    void waitEndsWhenTheCoordinatorIsClosed() throws Exception {
        Coordinator coordinator = connect();
        Barrier barrier = barrierOf(connect());
        barrier.set();
        CompletableFuture<Void> wait = barrierOf(coordinator).awaitAsync();
        assertTrue(barrierOf(coordinator).isSet());
        coordinator.close();
        Exception failure = assertThrows(Exception.class, () -> get(wait));
        assertTrue(failure.getCause() instanceof ClosedException, () -> "" + failure);
    }

    @Test
    void badInputIsRefusedByName() {
        Coordinator coordinator = connect();
        assertTrue(assertThrows(IllegalArgumentException.class, () -> Barrier.at(coordinator, "/"))
                .getMessage()
                .contains("\"/\""));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> barrierOf(coordinator)
                        .await(SHORT.negated()))
                .getMessage()
                .contains("PT-0.1S"));
    }
}
