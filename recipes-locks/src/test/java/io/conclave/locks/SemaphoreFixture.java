package io.conclave.locks;

import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.spi.GetChildren;
import java.util.List;

/** Where the tests of the semaphore's contract work. */
abstract class SemaphoreFixture extends LockFixture {
    static final String SEMAPHORE = "/semaphores/printers";

    static DistributedSemaphore semaphore(Coordinator coordinator, int permits) {
        return DistributedSemaphore.at(coordinator, SEMAPHORE, permits);
    }

    static DistributedSemaphore adjustable(Coordinator coordinator, int initial) {
        return DistributedSemaphore.adjustable(coordinator, SEMAPHORE, initial);
    }

    static List<String> leases(Coordinator coordinator) throws InterruptedException {
        return childrenOf(coordinator, SEMAPHORE + "/leases");
    }

    static List<String> places(Coordinator coordinator) throws InterruptedException {
        return childrenOf(coordinator, SEMAPHORE + "/locks");
    }

    private static List<String> childrenOf(Coordinator coordinator, String path) throws InterruptedException {
        try {
            return coordinator.execute(GetChildren.of(NodePath.of(path))).names();
        } catch (RefusedException noNode) {
            return List.of();
        }
    }

    static void awaitLeases(Coordinator coordinator, int count) {
        await().atMost(PATIENCE).until(() -> leases(coordinator).size() == count);
    }

    static void awaitPlaces(Coordinator coordinator, int count) {
        await().atMost(PATIENCE).until(() -> places(coordinator).size() == count);
    }

    /** Nothing is held and nobody waits. */
    static void awaitEmpty(Coordinator coordinator) {
        awaitPlaces(coordinator, 0);
        awaitLeases(coordinator, 0);
    }
}
