package io.conclave.locks;

import io.conclave.coordinator.Coordinator;
import io.conclave.testkit.contract.RecipeFixture;
import java.util.List;

/** Where the tests of the lock's contract work, and a look at the line. */
abstract class LockFixture extends RecipeFixture {
    static final String PATH = "/locks/orders";

    static DistributedLock lockOf(Coordinator coordinator) {
        return DistributedLock.at(coordinator, PATH);
    }

    static List<String> children(Coordinator coordinator) throws InterruptedException {
        return children(coordinator, PATH);
    }

    static void awaitMembers(Coordinator coordinator, int count) {
        awaitChildren(coordinator, PATH, count);
    }
}
