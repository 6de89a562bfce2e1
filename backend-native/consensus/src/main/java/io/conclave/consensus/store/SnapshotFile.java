package io.conclave.consensus.store;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.entry.LogState;
import io.conclave.consensus.entry.LogStateCodec;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32C;

/**
 * The files {@code snapshot-<last index>.snap}, and {@code received-<last index>-<number>.snap} before they are
 * installed:
 *
 * <pre>
 *   magic 8 | version 4 | length of the log's state 4 | cluster id 16 | term 8 | last index 8 | timestamp ms 8
 *   the log's state, see {@link LogStateCodec}
 *   the state machine's bytes
 *   magic 8 | length of the state machine's bytes 8 | CRC32C of all before it 4
 * </pre>
 *
 * A snapshot gets its name only when it is whole and synced.
 */
final class SnapshotFile {
    static final int FIXED_BYTES = 56;
    static final int END_BYTES = 20;
    static final int BUFFER_BYTES = 256 * 1024;

    /**
     * A snapshot is synced in steps of so many bytes: one sync of it all would make the log's own syncs wait for it.
     */
    static final int SYNC_BYTES = 8 * 1024 * 1024;

    private static final long MAGIC = 0x434e434c534e4150L; // CNCLSNAP
    private static final long END_MAGIC = 0x534e4150454e4421L; // SNAPEND!
    private static final String PREFIX = "snapshot-";
    private static final String RECEIVED_PREFIX = "received-";
    private static final String SUFFIX = ".snap";

    /** A snapshot that was read through: what it stands for, and where the state machine's bytes begin. */
    record Verified(SnapshotPosition position, long stateOffset) {}

    private SnapshotFile() {}

    static String name(long lastIndex) {
        return String.format("%s%016x%s", PREFIX, lastIndex, SUFFIX);
    }

    /** The name of one that was received and is not what the log begins with; never used twice by one process. */
    static String receivedName(long lastIndex, int number) {
        return String.format(Locale.ROOT, "%s%016x-%d%s", RECEIVED_PREFIX, lastIndex, number, SUFFIX);
    }

    /** Whether it is one that was received, whole or not. */
    static boolean isReceived(String name) {
        return name.startsWith(RECEIVED_PREFIX);
    }

    /** Whether it is a whole one of that index that was received. */
    static boolean isReceived(String name, long lastIndex) {
        return name.startsWith(String.format("%s%016x-", RECEIVED_PREFIX, lastIndex)) && name.endsWith(SUFFIX);
    }

    /** Whether it is one that was set aside, since it is damaged. */
    static boolean isDamaged(String name) {
        return name.startsWith(PREFIX) && name.endsWith(SUFFIX + LogFormat.DAMAGED);
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
     * @return how many bytes the file has
     * @throws DiskFullException if there is no room
     * @throws BrokenDiskException if the disk failed otherwise
     * @throws CancelledException if it was cancelled
     * @throws IOException if the state machine's writing failed
     */
    static long write(
            Disk disk, UUID clusterId, SnapshotPosition position, StateSnapshot state, BooleanSupplier cancelled)
            throws IOException {
        String temporary = name(position.lastIndex()) + LogFormat.TEMPORARY;
        try {
            long bytes;
            try (SnapshotOutput out = SnapshotOutput.create(disk, temporary, cancelled)) {
                out.write(header(clusterId, position));
                out.beginState();
                state.writeTo(out);
                out.writeEnd(END_MAGIC);
                bytes = out.bytes();
            }
            publish(disk, temporary, name(position.lastIndex()));
            return bytes;
        } catch (IOException | RuntimeException e) {
            disk.delete(temporary);
            throw e;
        }
    }

    /** Gives a synced file its name, durable. */
    static void publish(Disk disk, String temporary, String name) throws IOException {
        try {
            disk.rename(temporary, name);
            disk.syncDirectory();
        } catch (DiskFullException e) {
            throw e;
        } catch (IOException e) {
            throw new BrokenDiskException(e);
        }
    }

    private static byte[] header(UUID clusterId, SnapshotPosition position) {
        byte[] state = LogStateCodec.encode(position.state());
        ByteBuffer bytes = ByteBuffer.allocate(FIXED_BYTES + state.length);
        bytes.putLong(MAGIC).putInt(LogFormat.VERSION).putInt(state.length);
        LogFormat.putId(bytes, clusterId);
        bytes.putLong(position.term()).putLong(position.lastIndex()).putLong(position.timestampMs());
        return bytes.put(state).array();
    }

    /**
     * Reads a snapshot through, checking it whole, and says what it stands for.
     *
     * @throws DamagedLogException if it fails its check
     */
    static Verified verify(DiskFile file, String path, UUID clusterId) throws IOException {
        long size = file.size();
        ByteBuffer fixed = ByteBuffer.allocate(FIXED_BYTES);
        ByteBuffer end = ByteBuffer.allocate(END_BYTES);
        if (size < FIXED_BYTES + END_BYTES
                || file.read(fixed, 0) < FIXED_BYTES
                || file.read(end, size - END_BYTES) < END_BYTES) {
            throw new DamagedLogException(path, size, "the file ends too early");
        }
        if (end.getLong(0) != END_MAGIC || end.getInt(END_BYTES - 4) != checksum(file, size - 4)) {
            throw new DamagedLogException(path, 0, "the snapshot's checksum does not match");
        }
        fixed.flip();
        LogFormat.requireMagic(path, fixed.getLong(), MAGIC);
        LogFormat.requireVersion(path, fixed.getInt());
        int stateLength = fixed.getInt();
        LogFormat.requireCluster(path, LogFormat.getId(fixed), clusterId);
        if (stateLength < 0 || FIXED_BYTES + stateLength + end.getLong(8) + END_BYTES != size) {
            throw new DamagedLogException(path, 12, "the lengths in it do not add up to that of the file");
        }
        SnapshotPosition position = new SnapshotPosition(
                fixed.getLong(), fixed.getLong(), fixed.getLong(), logState(file, path, stateLength));
        return new Verified(position, FIXED_BYTES + stateLength);
    }

    private static LogState logState(DiskFile file, String path, int length) throws IOException {
        byte[] bytes = new byte[length];
        file.read(ByteBuffer.wrap(bytes), FIXED_BYTES);
        try {
            return LogStateCodec.decode(bytes);
        } catch (IllegalArgumentException e) {
            throw new DamagedLogException(path, FIXED_BYTES, "the state of the log in it cannot be read: " + e);
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

    /** The state machine's bytes of a verified snapshot. Closing the stream leaves the file open. */
    static InputStream state(DiskFile file, Verified verified) throws IOException {
        return new BufferedInputStream(
                new DiskInput(file, verified.stateOffset, file.size() - END_BYTES), BUFFER_BYTES);
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
