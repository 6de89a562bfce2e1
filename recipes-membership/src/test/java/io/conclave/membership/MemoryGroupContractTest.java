package io.conclave.membership;

import java.util.UUID;

class MemoryGroupContractTest extends GroupContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
