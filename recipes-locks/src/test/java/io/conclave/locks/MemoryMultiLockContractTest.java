package io.conclave.locks;

import java.util.UUID;

class MemoryMultiLockContractTest extends MultiLockContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
