package io.conclave.discovery;

import java.util.UUID;

class MemoryDiscoveryContractTest extends DiscoveryContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
