package io.conclave.locks;

import java.util.UUID;

class MemoryRevocationContractTest extends RevocationContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
