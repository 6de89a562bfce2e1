package io.conclave.consensus.store;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * Whose directory this is: the file {@code identity}, written once.
 *
 * <pre>
 *   magic 8 | version 4 | bootstrapped here 4 | cluster id 16 | directory id 8 | member id 4 | zero 4
 *   | since, ms since the epoch 8 | CRC32C 4
 * </pre>
 *
 * @param directory random and never 0, so that a directory which was wiped is not taken for the one it replaces
 * @param bootstrappedHere the cluster was bootstrapped in this directory, with its member as the only voter
 */
record DirectoryIdentity(UUID clusterId, int memberId, long directory, boolean bootstrappedHere, long sinceMs) {
    static final String NAME = "identity";
    private static final long MAGIC = 0x434e434c4944454eL; // CNCLIDEN
    private static final int BYTES = 60;

    private ByteBuffer encode() {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        bytes.putLong(MAGIC).putInt(LogFormat.VERSION).putInt(bootstrappedHere ? 1 : 0);
        LogFormat.putId(bytes, clusterId)
                .putLong(directory)
                .putInt(memberId)
                .putInt(0)
                .putLong(sinceMs);
        return bytes.putInt(Checksum.of(bytes, 0, BYTES - 4)).flip();
    }

    /** Makes the file, durable. */
    void write(Disk disk) throws IOException {
        String temporary = NAME + LogFormat.TEMPORARY;
        disk.delete(temporary);
        try (DiskFile file = disk.create(temporary)) {
            file.write(encode(), 0);
            file.sync();
        }
        disk.rename(temporary, NAME);
        disk.syncDirectory();
    }

    static DirectoryIdentity read(Disk disk) throws IOException {
        String path = disk.describe(NAME);
        try (DiskFile file = disk.open(NAME)) {
            ByteBuffer bytes = ByteBuffer.allocate(BYTES);
            if (file.read(bytes, 0) < BYTES || bytes.getInt(BYTES - 4) != Checksum.of(bytes, 0, BYTES - 4)) {
                throw new DamagedLogException(path, 0, "its checksum does not match");
            }
            bytes.flip();
            LogFormat.requireMagic(path, bytes.getLong(), MAGIC);
            LogFormat.requireVersion(path, bytes.getInt());
            boolean bootstrappedHere = bytes.getInt() != 0;
            UUID clusterId = LogFormat.getId(bytes);
            long directory = bytes.getLong();
            int memberId = bytes.getInt();
            bytes.getInt();
            return new DirectoryIdentity(clusterId, memberId, directory, bootstrappedHere, bytes.getLong());
        }
    }
}
