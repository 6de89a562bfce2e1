package io.conclave.election;

import java.util.UUID;

class MemoryElectionContractTest extends ElectionContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
