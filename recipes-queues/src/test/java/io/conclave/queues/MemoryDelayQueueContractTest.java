package io.conclave.queues;

import java.util.UUID;

class MemoryDelayQueueContractTest extends DelayQueueContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
