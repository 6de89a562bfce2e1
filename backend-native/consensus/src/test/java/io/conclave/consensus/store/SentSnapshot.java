package io.conclave.consensus.store;

import io.conclave.consensus.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;

/** The bytes of a snapshot, as another member of the cluster sends them. */
final class SentSnapshot {
    private SentSnapshot() {}

    static byte[] bytes(UUID cluster, SnapshotPosition position, long state) throws IOException {
        MemoryDisk sender = new MemoryDisk();
        SnapshotFile.write(sender, cluster, position, Replay.snapshotOf(state), () -> false);
        try (DiskFile file = sender.open(SnapshotFile.name(position.lastIndex()))) {
            ByteBuffer bytes = ByteBuffer.allocate((int) file.size());
            file.read(bytes, 0);
            return bytes.array();
        }
    }
}
