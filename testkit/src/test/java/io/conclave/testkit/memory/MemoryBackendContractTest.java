package io.conclave.testkit.memory;

import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.testkit.contract.BackendContract;
import io.conclave.time.TimeSource;

class MemoryBackendContractTest extends BackendContract {
    private final MemoryStore store = new MemoryStore(TimeSource.system());

    @Override
    protected Backend openBackend(BackendOptions options) {
        return new MemoryBackend(store, options);
    }
}
