package io.conclave.junit;

import io.conclave.coordinator.Coordinator;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.RequestFate;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The faults of coordinators on a store in memory. */
final class MemoryFaults implements ConclaveFaults {
    private final Faults faults;
    private final Clients<MemoryClient> clients;
    /** The sessions whose next reply is to be lost. */
    private final Set<Long> losing = ConcurrentHashMap.newKeySet();

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
        losing.add(clients.get(coordinator).sessionId());
        faults.intercept(
                (session, request, index) -> losing.remove(session) ? RequestFate.DROP_AFTER : RequestFate.PROCEED);
    }

    @Override
    public void endSession(Coordinator coordinator) {
        faults.expire(clients.get(coordinator).sessionId());
    }

    @Override
    public void undoAll() {
        losing.clear();
        faults.clear();
    }
}
