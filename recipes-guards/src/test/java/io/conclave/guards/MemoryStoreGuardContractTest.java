package io.conclave.guards;

import java.util.UUID;

class MemoryStoreGuardContractTest extends StoreGuardContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
