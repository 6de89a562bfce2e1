package io.conclave.queues;

import java.util.UUID;

class MemoryClaimContractTest extends ClaimContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
