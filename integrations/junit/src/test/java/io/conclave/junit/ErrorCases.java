package io.conclave.junit;

import io.conclave.coordinator.Coordinator;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.locks.DistributedLock;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import org.junit.jupiter.api.Test;

/** Tests that {@link ErrorsTest} runs. Each asks for what it cannot be given. */
class ErrorCases {
    @Test
    @ConclaveTest(servers = 1)
    void clockOfServers(ManualTimeSource time) {}

    @Test
    @ConclaveTest(servers = 1)
    void storeOfServers(MemoryStore store) {}

    @Test
    @ConclaveTest
    void serversOfAStore(ConclaveEnsemble ensemble) {}

    @Test
    @ConclaveTest(servers = -1)
    void negativeServers(Coordinator coordinator) {}

    @Test
    @ConclaveTest
    void unknownType(DistributedLock lock) {}
}
