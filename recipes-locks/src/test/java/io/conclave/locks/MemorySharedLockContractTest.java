package io.conclave.locks;

import java.util.UUID;

class MemorySharedLockContractTest extends SharedLockContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
