package io.conclave.config;

import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;

/** On a store without persistent watches, which says so. */
class MemoryOneShotConfigurationContractTest extends ConfigurationContract {
    private final String name = UUID.randomUUID().toString();

    @BeforeEach
    void takePersistentWatchesAway() {
        memoryStore().faults().withoutPersistentWatches();
    }

    @Override
    public String connectString() {
        return "memory:" + name;
    }
}
