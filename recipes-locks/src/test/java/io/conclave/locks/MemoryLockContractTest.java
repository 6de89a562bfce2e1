package io.conclave.locks;

import java.util.UUID;

class MemoryLockContractTest extends LockContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    protected String connectString() {
        return connectString;
    }
}
