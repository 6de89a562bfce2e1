package io.conclave.locks;

import java.util.UUID;

class MemorySemaphoreContractTest extends SemaphoreContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
