package io.conclave.locks;

import java.util.UUID;

class MemoryLockContractTest extends LockContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
