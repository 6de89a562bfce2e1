package io.conclave.barriers;

import java.util.UUID;

class MemoryLatchContractTest extends LatchContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
