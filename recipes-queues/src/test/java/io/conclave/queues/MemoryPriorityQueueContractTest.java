package io.conclave.queues;

import java.util.UUID;

class MemoryPriorityQueueContractTest extends PriorityQueueContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
