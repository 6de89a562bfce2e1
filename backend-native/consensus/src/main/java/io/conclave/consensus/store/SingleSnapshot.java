package io.conclave.consensus.store;

import io.conclave.consensus.LogException;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.UUID;

/** A snapshot's file by itself, without the log that it belongs to. */
public final class SingleSnapshot {
    private static final int CLUSTER_ID_OFFSET = 16;
    private static final int CLUSTER_ID_BYTES = 16;

    private SingleSnapshot() {}

    /**
     * Reads it through, into the machine. Blocks.
     *
     * @throws LogException if it is damaged
     */
    public static void read(Disk disk, String name, StateMachine machine) throws IOException {
        try (DiskFile file = disk.open(name)) {
            ByteBuffer id = ByteBuffer.allocate(CLUSTER_ID_BYTES);
            file.read(id, CLUSTER_ID_OFFSET);
            UUID clusterId = LogFormat.getId(id.clear()); // of whatever cluster: the checksum says whether it is right
            SnapshotFile.Verified verified = SnapshotFile.verify(file, disk.describe(name), clusterId);
            try (InputStream state = SnapshotFile.state(file, verified)) {
                machine.read(state).run();
            }
        }
    }
}
