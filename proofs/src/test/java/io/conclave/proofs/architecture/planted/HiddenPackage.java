package io.conclave.proofs.architecture.planted;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;

/** Calls a class of a package that is exported to recipes only, and imports nothing of it. */
final class HiddenPackage {
    private HiddenPackage() {}

    static Object time(Coordinator coordinator) {
        return RecipeAccess.session(coordinator).time();
    }
}
