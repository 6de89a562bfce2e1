package io.conclave.membership;

import java.util.UUID;

class MemoryPartitionerContractTest extends PartitionerContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
