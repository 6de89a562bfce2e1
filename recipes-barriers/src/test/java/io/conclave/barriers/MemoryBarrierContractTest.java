package io.conclave.barriers;

import java.util.UUID;

class MemoryBarrierContractTest extends BarrierContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
