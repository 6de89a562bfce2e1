package io.conclave.locks;

import java.util.UUID;

class MemoryMultiLockContractTest extends MultiLockContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    protected String connectString() {
        return connectString;
    }
}
