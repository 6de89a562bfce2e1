package io.conclave.locks;

import java.util.UUID;

class MemoryLeasedLockContractTest extends LeasedLockContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
