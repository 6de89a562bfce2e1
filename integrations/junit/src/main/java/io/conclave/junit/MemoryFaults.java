package io.conclave.junit;

import io.conclave.coordinator.Coordinator;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;

/** The faults of coordinators on a store in memory. */
final class MemoryFaults implements ConclaveFaults {
    private final Faults faults;
    private final Clients<MemoryClient> clients;

    MemoryFaults(Faults faults, Clients<MemoryClient> clients) {
        this.faults = faults;
        this.clients = clients;
    }

    @Override
    public void cutOff(Coordinator coordinator) {
        faults.isolate(clients.get(coordinator));
    }

    @Override
    public void reconnect(Coordinator coordinator) {
        faults.rejoin(clients.get(coordinator));
    }

    @Override
    public void loseNextReply(Coordinator coordinator) {
        faults.onNext(clients.get(coordinator).sessionId(), request -> true, RequestFate.DROP_AFTER);
    }

    @Override
    public void endSession(Coordinator coordinator) {
        faults.expire(clients.get(coordinator).sessionId());
    }

    @Override
    public void undoAll() {
        faults.clear();
    }
}
