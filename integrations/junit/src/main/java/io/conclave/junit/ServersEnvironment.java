package io.conclave.junit;

import io.conclave.coordinator.Coordinator;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import java.util.Optional;

/** Real servers. Each coordinator reaches them through proxies of its own. */
final class ServersEnvironment implements Environment {
    private final Settings settings;
    private final ConclaveEnsemble ensemble;
    private final Clients<ProxiedClient> clients = new Clients<>();
    private final ConclaveFaults faults = new ProxyFaults(clients);

    ServersEnvironment(Settings settings) {
        this.settings = settings;
        this.ensemble = settings.ensemble()
                .apply(ConclaveEnsemble.builder())
                .voters(settings.servers())
                .start();
    }

    @Override
    public String connectString() {
        return ensemble.connectString();
    }

    @Override
    public Coordinator connect() {
        ProxiedClient client = ProxiedClient.of(ensemble.hostsAndPorts());
        try {
            // It must not find the servers behind the proxies.
            Coordinator coordinator = settings.coordinators()
                    .apply(Coordinator.builder(client.connectString()))
                    .followEnsemble(false)
                    .connect();
            clients.add(coordinator, client);
            return coordinator;
        } catch (RuntimeException | Error e) {
            client.close();
            throw e;
        }
    }

    @Override
    public void disconnect(Coordinator coordinator) {
        ProxiedClient client = clients.get(coordinator);
        client.restore();
        coordinator.close();
        clients.remove(coordinator);
        client.close();
    }

    @Override
    public ConclaveFaults faults() {
        return faults;
    }

    @Override
    public Optional<ConclaveEnsemble> ensemble() {
        return Optional.of(ensemble);
    }

    @Override
    public Optional<MemoryStore> store() {
        return Optional.empty();
    }

    @Override
    public Optional<ManualTimeSource> clock() {
        return Optional.empty();
    }

    @Override
    public void undoFaults() {
        faults.undoAll();
        ensemble.repair();
    }

    @Override
    public void close() {
        ensemble.close();
    }
}
