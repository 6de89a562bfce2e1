package io.conclave.discovery;

import java.util.UUID;

class MemoryNameServiceContractTest extends NameServiceContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
