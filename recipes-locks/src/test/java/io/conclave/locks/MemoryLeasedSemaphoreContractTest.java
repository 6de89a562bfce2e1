package io.conclave.locks;

import java.util.UUID;

class MemoryLeasedSemaphoreContractTest extends LeasedSemaphoreContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
