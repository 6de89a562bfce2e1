package io.conclave.queues;

import java.util.UUID;

class MemoryQueueContractTest extends QueueContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
