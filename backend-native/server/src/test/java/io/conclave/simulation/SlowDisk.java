package io.conclave.simulation;

import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import io.conclave.consensus.disk.ForwardingDisk;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A disk on which each sync takes a time. */
final class SlowDisk extends ForwardingDisk {
    private final Runnable syncing;

    /**
     * A disk on top of another.
     *
     * @param syncing called at each sync
     */
    SlowDisk(Disk disk, Runnable syncing) {
        super(disk);
        this.syncing = syncing;
    }

    @Override
    public void syncDirectory() throws IOException {
        syncing.run();
        super.syncDirectory();
    }

    @Override
    protected DiskFile wrap(String name, DiskFile file) {
        return new ForwardingFile(file) {
            @Override
            public void writeSynced(ByteBuffer source, long position) throws IOException {
                syncing.run();
                super.writeSynced(source, position);
            }

            @Override
            public void sync() throws IOException {
                syncing.run();
                super.sync();
            }
        };
    }
}
