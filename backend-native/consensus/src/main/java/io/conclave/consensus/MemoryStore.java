package io.conclave.consensus;

import java.util.UUID;
import java.util.function.Supplier;

/** Keeps nothing: a batch is committed because there is nobody to outlive. */
final class MemoryStore implements LogStore {
    private final UUID clusterId;

    MemoryStore(Supplier<UUID> clusterIds) {
        this.clusterId = clusterIds.get();
    }

    @Override
    public LogTail recover(StateMachine machine) {
        machine.begin(clusterId);
        return new LogTail(LogPosition.START, 0, 0, 0, 0);
    }

    @Override
    public UUID clusterId() {
        return clusterId;
    }

    @Override
    public long enterNextTerm() {
        return 1;
    }

    @Override
    public Appended append(CommittedBatch batch) {
        return Appended.DONE;
    }

    @Override
    public void applied(CommittedBatch batch, StateMachine machine) {}

    @Override
    public DiskState diskState() {
        return DiskState.ROOM;
    }

    @Override
    public boolean stopped() {
        return true;
    }

    @Override
    public void close(boolean clean) {}
}
