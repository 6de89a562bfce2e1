package io.conclave.commit;

import java.util.UUID;

class MemoryCommitContractTest extends CommitContract {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }
}
