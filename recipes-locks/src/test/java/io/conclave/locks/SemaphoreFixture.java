package io.conclave.locks;

import io.conclave.coordinator.Coordinator;
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
        return children(coordinator, SEMAPHORE + "/leases");
    }

    static List<String> places(Coordinator coordinator) throws InterruptedException {
        return children(coordinator, SEMAPHORE + "/locks");
    }

    static void awaitLeases(Coordinator coordinator, int count) {
        awaitChildren(coordinator, SEMAPHORE + "/leases", count);
    }

    static void awaitPlaces(Coordinator coordinator, int count) {
        awaitChildren(coordinator, SEMAPHORE + "/locks", count);
    }

    /** Nothing is held and no one waits. */
    static void awaitEmpty(Coordinator coordinator) {
        awaitPlaces(coordinator, 0);
        awaitLeases(coordinator, 0);
    }
}
