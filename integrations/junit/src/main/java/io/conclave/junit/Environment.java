package io.conclave.junit;

import io.conclave.coordinator.Coordinator;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;

/**
 * A store with all that tests may ask of it. It lies in JUnit's store of the scope that it serves, which closes it: as
 * a {@link CloseableResource} up to JUnit 5.12, as an {@link AutoCloseable} from 5.13 on.
 */
interface Environment extends CloseableResource, AutoCloseable {
    /** Starts one. Blocks until it serves. */
    static Environment start(Settings settings, boolean manualClock) {
        return settings.servers() == 0
                ? new MemoryEnvironment(settings, manualClock)
                : new ServersEnvironment(settings);
    }

    String connectString();

    /** A new coordinator, which is reached by the faults; {@link #disconnect} closes it. */
    Coordinator connect();

    void disconnect(Coordinator coordinator);

    ConclaveFaults faults();

    Optional<ConclaveEnsemble> ensemble();

    Optional<MemoryStore> store();

    Optional<ManualTimeSource> clock();

    /** Undoes what a test has done to coordinators and servers. Blocks until the servers serve again. */
    void undoFaults();

    @Override
    void close();
}
