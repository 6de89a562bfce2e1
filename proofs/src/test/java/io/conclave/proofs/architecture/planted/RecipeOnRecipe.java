package io.conclave.proofs.architecture.planted;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;

/** What a recipe must not do: stand on another recipe. */
final class RecipeOnRecipe {
    private RecipeOnRecipe() {}

    static DistributedLock lock(Coordinator coordinator) {
        return DistributedLock.at(coordinator, "/lock");
    }
}
