package io.conclave.consensus.store;

import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import io.conclave.consensus.disk.DiskFullException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32C;

/** Buffers and sums up what the state machine writes, and tells the disk's failures from the machine's. */
final class SnapshotOutput extends OutputStream {
    private final DiskFile file;
    private final BooleanSupplier cancelled;
    private final CRC32C crc = new CRC32C();
    private final ByteBuffer buffer = ByteBuffer.allocate(SnapshotFile.BUFFER_BYTES);
    private long flushed;
    private long synced;
    private long headerBytes;

    private SnapshotOutput(DiskFile file, BooleanSupplier cancelled) {
        this.file = file;
        this.cancelled = cancelled;
    }

    /** Makes the file; what is written before {@link #beginState} is its header. */
    static SnapshotOutput create(Disk disk, String name, BooleanSupplier cancelled) throws IOException {
        try {
            disk.delete(name);
            return new SnapshotOutput(disk.create(name), cancelled);
        } catch (IOException e) {
            throw fullOrBroken(e);
        }
    }

    /** The header is written: what follows is the state machine's. */
    void beginState() {
        headerBytes = flushed + buffer.position();
    }

    /** Ends the file: what was written after the header is the state. Returns when all of it is durable. */
    void writeEnd(long magic) throws IOException {
        long stateBytes = flushed + buffer.position() - headerBytes;
        ByteBuffer end =
                ByteBuffer.allocate(SnapshotFile.END_BYTES).putLong(magic).putLong(stateBytes);
        write(end.array(), 0, end.position());
        drain();
        ByteBuffer sum = ByteBuffer.allocate(Integer.BYTES).putInt((int) crc.getValue());
        try {
            file.write(sum.flip(), flushed);
            file.sync();
        } catch (IOException e) {
            throw fullOrBroken(e);
        }
    }

    @Override
    public void write(int oneByte) throws IOException {
        if (!buffer.hasRemaining()) {
            drain();
        }
        buffer.put((byte) oneByte);
    }

    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
        int from = offset;
        int left = length;
        while (left > 0) {
            if (!buffer.hasRemaining()) {
                drain();
            }
            int part = Math.min(left, buffer.remaining());
            buffer.put(source, from, part);
            from += part;
            left -= part;
        }
    }

    private void drain() throws IOException {
        if (cancelled.getAsBoolean()) {
            throw new CancelledException();
        }
        buffer.flip();
        crc.update(buffer.duplicate());
        int length = buffer.remaining();
        try {
            file.write(buffer, flushed);
            flushed += length;
            if (flushed - synced >= SnapshotFile.SYNC_BYTES) {
                file.sync();
                synced = flushed;
            }
        } catch (IOException e) {
            throw fullOrBroken(e);
        }
        buffer.clear();
    }

    /** How many bytes the file has. */
    long bytes() {
        return flushed + Integer.BYTES;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    private static IOException fullOrBroken(IOException e) {
        return e instanceof DiskFullException ? e : new BrokenDiskException(e);
    }
}
