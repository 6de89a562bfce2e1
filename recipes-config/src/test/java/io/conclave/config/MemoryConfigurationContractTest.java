package io.conclave.config;

import java.util.UUID;

class MemoryConfigurationContractTest extends ConfigurationContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
