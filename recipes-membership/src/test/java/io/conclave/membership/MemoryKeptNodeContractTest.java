package io.conclave.membership;

import java.util.UUID;

class MemoryKeptNodeContractTest extends KeptNodeContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
