package io.conclave.shedlock;

import java.util.UUID;

class MemoryShedLockContractTest extends ShedLockContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
