package io.conclave.barriers;

import java.util.UUID;

class MemoryDoubleBarrierContractTest extends DoubleBarrierContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
