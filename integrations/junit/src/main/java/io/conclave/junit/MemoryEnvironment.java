package io.conclave.junit;

import io.conclave.coordinator.Coordinator;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.time.TimeSource;
import java.util.Optional;
import java.util.UUID;

/** A store in memory, with a name of its own. */
final class MemoryEnvironment implements Environment {
    private final Settings settings;
    private final String name = "test-" + UUID.randomUUID();
    private final Optional<ManualTimeSource> clock;
    private final MemoryStore store;
    private final Clients<MemoryClient> clients = new Clients<>();
    private final MemoryFaults faults;

    MemoryEnvironment(Settings settings, boolean manualClock) {
        this.settings = settings;
        this.clock = manualClock ? Optional.of(new ManualTimeSource()) : Optional.empty();
        this.store = MemoryStore.named(name, time());
        this.faults = new MemoryFaults(store.faults(), clients);
    }

    private TimeSource time() {
        return clock.<TimeSource>map(manual -> manual).orElseGet(TimeSource::system);
    }

    @Override
    public String connectString() {
        return "memory:" + name;
    }

    @Override
    public Coordinator connect() {
        MemoryClient client = new MemoryClient(time());
        store.faults().plant(client, client::opens);
        Coordinator coordinator = settings.coordinators()
                .apply(Coordinator.builder(connectString()))
                .timeSource(client)
                .connect();
        clients.add(coordinator, client);
        return coordinator;
    }

    @Override
    public void disconnect(Coordinator coordinator) {
        faults.reconnect(coordinator);
        coordinator.close();
        clients.remove(coordinator);
    }

    @Override
    public ConclaveFaults faults() {
        return faults;
    }

    @Override
    public Optional<ConclaveEnsemble> ensemble() {
        return Optional.empty();
    }

    @Override
    public Optional<MemoryStore> store() {
        return Optional.of(store);
    }

    @Override
    public Optional<ManualTimeSource> clock() {
        return clock;
    }

    @Override
    public void undoFaults() {
        faults.undoAll();
    }

    @Override
    public void close() {
        MemoryStore.forget(name);
    }
}
