package io.conclave.barriers;

import io.conclave.coordinator.Coordinator;
import io.conclave.testkit.contract.RecipeFixture;
import java.time.Duration;

/** Where the tests of the barriers' contracts work. */
abstract class BarrierFixture extends RecipeFixture {
    static final String PATH = "/barriers/step";
    static final Duration SHORT = Duration.ofMillis(100);

    static void awaitChildren(Coordinator coordinator, int count) {
        awaitChildren(coordinator, PATH, count);
    }
}
