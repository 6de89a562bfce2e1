package io.conclave.backup;

import io.conclave.tree.SnapshotCodec;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The file of a backup; all numbers are big-endian:
 *
 * <pre>
 *   magic 8 | version 4 | length of the summary 4 | summary, see {@link BackupSummary} | CRC32C of all before 4
 *   the state, see {@link SnapshotCodec}
 *   magic 8 | length of the whole file 8 | CRC32C of all before 4
 * </pre>
 */
final class BackupFormat {
    static final long MAGIC = 0x434e434c424b5550L; // CNCLBKUP
    static final long END_MAGIC = 0x424b5550454e4421L; // BKUPEND!
    static final int VERSION = 1;
    static final int HEADER_BYTES = 16 + BackupSummary.BYTES + 4;
    static final int END_BYTES = 20;

    private BackupFormat() {}

    static byte[] header(BackupSummary summary) {
        ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES);
        bytes.putLong(MAGIC).putInt(VERSION).putInt(BackupSummary.BYTES);
        summary.write(bytes);
        CRC32C crc = new CRC32C();
        crc.update(bytes.array(), 0, bytes.position());
        return bytes.putInt((int) crc.getValue()).array();
    }

    /**
     * The end.
     *
     * @param before the checksum of all bytes before it
     * @param length of them
     */
    static byte[] end(CRC32C before, long length) {
        ByteBuffer bytes = ByteBuffer.allocate(END_BYTES).putLong(END_MAGIC).putLong(length + END_BYTES);
        before.update(bytes.array(), 0, bytes.position());
        return bytes.putInt((int) before.getValue()).array();
    }
}
