package io.conclave.backup;

import io.conclave.tree.SnapshotCodec;
import io.conclave.tree.TreeFormatException;
import io.conclave.tree.TreeState;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;

/** Reads a backup, and believes nothing in it that does not fit its checksums, its lengths and its digest. */
public final class BackupFile {
    private static final int BUFFER_BYTES = 256 * 1024;

    /**
     * What was read.
     *
     * @param summary what the file says about the state
     * @param state it, whole
     */
    public record Contents(BackupSummary summary, TreeState state) {}

    private BackupFile() {}

    /**
     * Reads a backup through. Blocks; needs a heap for the state.
     *
     * @throws DamagedBackupException if it is none, or not whole, or its state is larger than it says
     * @throws IOException if the file cannot be read, or the heap is too small
     */
    public static Contents read(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            long size = channel.size();
            BackupSummary summary = readHeader(file, bytes(channel, 0, BackupFormat.HEADER_BYTES));
            ByteBuffer end = readEnd(file, channel, size);
            long stateEnd = size - BackupFormat.END_BYTES;
            CRC32C checksum = new CRC32C();
            checksum.update(bytes(channel, 0, BackupFormat.HEADER_BYTES));
            TreeState state = readState(file, channel, stateEnd, summary, checksum);
            checksum.update(end.duplicate().limit(BackupFormat.END_BYTES - Integer.BYTES));
            if (end.getInt(BackupFormat.END_BYTES - Integer.BYTES) != (int) checksum.getValue()) {
                throw new DamagedBackupException(
                        file, size - Integer.BYTES, "the checksum there is not that of the file");
            }
            if (!BackupSummary.of(state).equals(summary)) {
                throw new DamagedBackupException(
                        file,
                        BackupFormat.HEADER_BYTES,
                        "the state there is not the one that the summary tells: " + BackupSummary.of(state)
                                + " and not " + summary);
            }
            return new Contents(summary, state);
        }
    }

    /** What the first piece of a backup says. */
    static BackupSummary summaryOf(Path file, byte[] header) throws DamagedBackupException {
        return readHeader(file, ByteBuffer.wrap(header));
    }

    private static BackupSummary readHeader(Path file, ByteBuffer header) throws DamagedBackupException {
        if (header.remaining() < Long.BYTES || header.getLong(0) != BackupFormat.MAGIC) {
            throw new DamagedBackupException(file, 0, "it does not start as a backup does");
        }
        if (header.remaining() < BackupFormat.HEADER_BYTES) {
            throw new DamagedBackupException(file, header.limit(), "the file ends within its header");
        }
        int version = header.getInt(8);
        if (version != BackupFormat.VERSION) {
            throw new DamagedBackupException(
                    file, 8, "format version " + version + "; this software reads " + BackupFormat.VERSION);
        }
        CRC32C checksum = new CRC32C();
        checksum.update(header.duplicate().limit(BackupFormat.HEADER_BYTES - Integer.BYTES));
        if (header.getInt(12) != BackupSummary.BYTES
                || header.getInt(BackupFormat.HEADER_BYTES - Integer.BYTES) != (int) checksum.getValue()) {
            throw new DamagedBackupException(file, 0, "the header's checksum does not match");
        }
        return BackupSummary.read(header.position(16));
    }

    private static ByteBuffer readEnd(Path file, FileChannel channel, long size) throws IOException {
        long start = Math.max(BackupFormat.HEADER_BYTES, size - BackupFormat.END_BYTES);
        ByteBuffer end = bytes(channel, start, BackupFormat.END_BYTES);
        if (end.remaining() < BackupFormat.END_BYTES
                || end.getLong(0) != BackupFormat.END_MAGIC
                || end.getLong(Long.BYTES) != size) {
            throw new DamagedBackupException(
                    file, start, "the end of a backup is not there: the file was cut, or goes on behind it");
        }
        return end;
    }

    private static TreeState readState(Path file, FileChannel channel, long end, BackupSummary summary, CRC32C checksum)
            throws IOException {
        InputStream all = Channels.newInputStream(channel.position(BackupFormat.HEADER_BYTES));
        InputStream state = new BufferedInputStream(
                new CheckedInputStream(new BoundedInput(all, end - BackupFormat.HEADER_BYTES), checksum), BUFFER_BYTES);
        try {
            return SnapshotCodec.read(state, summary.sessions(), summary.znodes(), summary.dataBytes());
        } catch (TreeFormatException e) {
            throw new DamagedBackupException(
                    file, BackupFormat.HEADER_BYTES + e.offset(), String.valueOf(e.getMessage()));
        } catch (OutOfMemoryError e) {
            throw new IOException(
                    file + ": its state of " + summary.znodes() + " znodes, with " + summary.dataBytes()
                            + " bytes of paths and data, does not fit into the heap of "
                            + (Runtime.getRuntime().maxMemory() >> 20) + " MB. A server of it needs at least about "
                            + ((summary.heapBytes() >> 20) + 1) + " MB (JVM_FLAGS=-Xmx...)",
                    e);
        }
    }

    /** As many bytes as asked for, or until the file ends. */
    private static ByteBuffer bytes(FileChannel channel, long from, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        int count = 0;
        while (bytes.hasRemaining() && count >= 0) {
            count = channel.read(bytes, from + bytes.position());
        }
        return bytes.flip();
    }

    /** The first bytes of a stream. */
    private static final class BoundedInput extends InputStream {
        private final InputStream in;
        private long left;

        BoundedInput(InputStream in, long length) {
            this.in = in;
            this.left = length;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            if (left == 0 && length > 0) {
                return -1;
            }
            int count = in.read(target, offset, (int) Math.min(length, left));
            left -= Math.max(0, count);
            return count;
        }
    }
}
