package io.conclave.locks;

import java.util.UUID;

class MemoryStoreGuardTest extends StoreGuardContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    protected String connectString() {
        return connectString;
    }
}
