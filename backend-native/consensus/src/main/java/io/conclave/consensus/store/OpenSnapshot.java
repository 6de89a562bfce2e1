package io.conclave.consensus.store;

import io.conclave.consensus.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A snapshot's file, held open: it can be read although its name may be gone. */
final class OpenSnapshot implements StoredSnapshot {
    private final SnapshotPosition position;
    private final DiskFile file;
    private final long length;

    OpenSnapshot(SnapshotPosition position, DiskFile file) throws IOException {
        this.position = position;
        this.file = file;
        this.length = file.size();
    }

    @Override
    public long lastIndex() {
        return position.lastIndex();
    }

    @Override
    public long lastTerm() {
        return position.term();
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public int read(ByteBuffer target, long offset) throws IOException {
        return file.read(target, offset);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
