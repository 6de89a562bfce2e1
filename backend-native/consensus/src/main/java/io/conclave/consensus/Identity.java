package io.conclave.consensus;

import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * Whose directory this is: the file {@code identity}, written once at birth.
 *
 * <pre>
 *   magic 8 | version 4 | feature level at birth 4 | cluster id 16 | member id 8 | born, ms since the epoch 8 | CRC32C 4
 * </pre>
 */
record Identity(UUID clusterId, long memberId, int featureLevel, long bornMs) {
    static final String NAME = "identity";
    private static final long MAGIC = 0x434e434c4944454eL; // CNCLIDEN
    private static final int BYTES = 52;

    ByteBuffer encode() {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        bytes.putLong(MAGIC).putInt(LogFormat.VERSION).putInt(featureLevel);
        LogFormat.putId(bytes, clusterId).putLong(memberId).putLong(bornMs);
        return bytes.putInt(Checksum.of(bytes, 0, BYTES - 4)).flip();
    }

    static Identity read(Disk disk) throws IOException {
        String path = disk.describe(NAME);
        try (DiskFile file = disk.open(NAME)) {
            ByteBuffer bytes = ByteBuffer.allocate(BYTES);
            if (file.read(bytes, 0) < BYTES || bytes.getInt(BYTES - 4) != Checksum.of(bytes, 0, BYTES - 4)) {
                throw new DamagedLogException(path, 0, "its checksum does not match");
            }
            bytes.flip();
            LogFormat.requireMagic(path, bytes.getLong(), MAGIC);
            LogFormat.requireVersion(path, bytes.getInt());
            int featureLevel = bytes.getInt();
            return new Identity(LogFormat.getId(bytes), bytes.getLong(), featureLevel, bytes.getLong());
        }
    }
}
