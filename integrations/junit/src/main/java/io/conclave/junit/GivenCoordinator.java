package io.conclave.junit;

import io.conclave.coordinator.Coordinator;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;

/** A coordinator that a test or a class was given. JUnit's store closes it, as it does an {@link Environment}. */
final class GivenCoordinator implements CloseableResource, AutoCloseable {
    private final Coordinator coordinator;
    private final Environment environment;

    GivenCoordinator(Coordinator coordinator, Environment environment) {
        this.coordinator = coordinator;
        this.environment = environment;
    }

    @Override
    public void close() {
        environment.disconnect(coordinator);
    }
}
