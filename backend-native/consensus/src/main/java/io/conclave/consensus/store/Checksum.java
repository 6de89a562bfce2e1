package io.conclave.consensus.store;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC32C of parts of buffers. */
final class Checksum {
    private Checksum() {}

    /** Of the bytes from absolute position {@code from}; the buffer's own position is left alone. */
    static int of(ByteBuffer buffer, int from, int length) {
        CRC32C crc = new CRC32C();
        crc.update(buffer.slice(from, length));
        return (int) crc.getValue();
    }
}
