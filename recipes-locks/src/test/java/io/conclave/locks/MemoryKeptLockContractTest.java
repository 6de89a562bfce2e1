package io.conclave.locks;

import java.util.UUID;

class MemoryKeptLockContractTest extends KeptLockContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
