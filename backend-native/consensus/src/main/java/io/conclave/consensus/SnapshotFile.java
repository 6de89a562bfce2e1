package io.conclave.consensus;

import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import io.conclave.consensus.disk.DiskFullException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32C;

/**
 * The files {@code snapshot-<last index>.snap}:
 *
 * <pre>
 *   magic 8 | version 4 | feature level 4 | cluster id 16 | term 8 | last index 8 | timestamp ms 8
 *   the state machine's bytes
 *   magic 8 | length of the state machine's bytes 8 | CRC32C of all before it 4
 * </pre>
 *
 * A snapshot gets its name only when it is whole and synced.
 */
final class SnapshotFile {
    static final int HEADER_BYTES = 56;
    static final int END_BYTES = 20;
    static final int BUFFER_BYTES = 256 * 1024;

    private static final long MAGIC = 0x434e434c534e4150L; // CNCLSNAP
    private static final long END_MAGIC = 0x534e4150454e4421L; // SNAPEND!
    private static final String PREFIX = "snapshot-";
    private static final String SUFFIX = ".snap";

    private SnapshotFile() {}

    static String name(long lastIndex) {
        return String.format("%s%016x%s", PREFIX, lastIndex, SUFFIX);
    }

    /** The last index that a file's name says, or -1 if it is not a snapshot's name. */
    static long lastIndexOf(String name) {
        boolean ours = name.startsWith(PREFIX)
                && name.endsWith(SUFFIX)
                && name.length() == PREFIX.length() + 16 + SUFFIX.length();
        return ours ? LogFormat.parseHex(name, PREFIX.length()) : -1;
    }

    /**
     * Writes a snapshot and makes it durable, name included. Any thread. Leaves nothing behind if it fails.
     *
     * @throws DiskFullException if there is no room
     * @throws BrokenDiskException if the disk failed otherwise
     * @throws CancelledException if it was cancelled
     * @throws IOException if the state machine's writing failed
     */
    static void write(Disk disk, Identity identity, SnapshotMark mark, StateSnapshot state, BooleanSupplier cancelled)
            throws IOException {
        String temporary = name(mark.lastIndex()) + LogFormat.TEMPORARY;
        try {
            try (SnapshotOutput out = SnapshotOutput.create(disk, temporary, cancelled)) {
                out.writeHeader(header(identity, mark));
                state.writeTo(out);
                out.writeEnd(END_MAGIC);
            }
            publish(disk, temporary, name(mark.lastIndex()));
        } catch (IOException | RuntimeException e) {
            disk.delete(temporary);
            throw e;
        }
    }

    private static void publish(Disk disk, String temporary, String name) throws IOException {
        try {
            disk.rename(temporary, name);
            disk.syncDirectory();
        } catch (DiskFullException e) {
            throw e;
        } catch (IOException e) {
            throw new BrokenDiskException(e);
        }
    }

    private static ByteBuffer header(Identity identity, SnapshotMark mark) {
        ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES);
        bytes.putLong(MAGIC).putInt(LogFormat.VERSION).putInt(mark.featureLevel());
        LogFormat.putId(bytes, identity.clusterId());
        bytes.putLong(mark.term()).putLong(mark.lastIndex()).putLong(mark.timestampMs());
        return bytes.flip();
    }

    /**
     * Reads a snapshot through, checking it whole, and says what it stands for.
     *
     * @throws DamagedLogException if it fails its check
     */
    static SnapshotMark verify(Disk disk, Identity identity, String name) throws IOException {
        String path = disk.describe(name);
        try (DiskFile file = disk.open(name)) {
            long size = file.size();
            ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
            ByteBuffer end = ByteBuffer.allocate(END_BYTES);
            if (size < HEADER_BYTES + END_BYTES
                    || file.read(header, 0) < HEADER_BYTES
                    || file.read(end, size - END_BYTES) < END_BYTES) {
                throw new DamagedLogException(path, size, "the file ends too early");
            }
            if (end.getLong(0) != END_MAGIC
                    || end.getLong(8) != size - HEADER_BYTES - END_BYTES
                    || end.getInt(END_BYTES - 4) != checksum(file, size - 4)) {
                throw new DamagedLogException(path, 0, "the snapshot's checksum does not match");
            }
            header.flip();
            LogFormat.requireMagic(path, header.getLong(), MAGIC);
            LogFormat.requireVersion(path, header.getInt());
            int featureLevel = header.getInt();
            LogFormat.requireCluster(path, LogFormat.getId(header), identity.clusterId());
            SnapshotMark mark = new SnapshotMark(header.getLong(), header.getLong(), header.getLong(), featureLevel);
            if (mark.lastIndex() != lastIndexOf(name)) {
                throw new DamagedLogException(path, 0, "its name does not say its last index " + mark.lastIndex());
            }
            return mark;
        }
    }

    private static int checksum(DiskFile file, long length) throws IOException {
        CRC32C crc = new CRC32C();
        ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(length, BUFFER_BYTES));
        for (long offset = 0; offset < length; offset += buffer.position()) {
            buffer.clear().limit((int) Math.min(buffer.capacity(), length - offset));
            if (file.read(buffer, offset) < buffer.limit()) {
                throw new IOException("the file became shorter while it was read");
            }
            crc.update(buffer.duplicate().flip());
        }
        return (int) crc.getValue();
    }

    /** Gives a verified snapshot to the machine. */
    static void restore(Disk disk, String name, StateMachine machine) throws IOException {
        try (DiskFile file = disk.open(name);
                InputStream in = new BufferedInputStream(
                        new DiskInput(file, HEADER_BYTES, file.size() - END_BYTES), BUFFER_BYTES)) {
            machine.read(in).run();
        }
    }

    /** A part of a file as a stream. */
    private static final class DiskInput extends InputStream {
        private final DiskFile file;
        private final long end;
        private long position;

        DiskInput(DiskFile file, long start, long end) {
            this.file = file;
            this.position = start;
            this.end = end;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            int wanted = (int) Math.min(length, end - position);
            int count = wanted == 0 ? 0 : file.read(ByteBuffer.wrap(target, offset, wanted), position);
            position += count;
            return count == 0 ? -1 : count;
        }
    }
}
