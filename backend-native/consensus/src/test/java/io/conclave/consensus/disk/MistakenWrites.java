package io.conclave.consensus.disk;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A disk whose synced writes do something else: a planted mistake. */
public final class MistakenWrites extends ForwardingDisk {
    private final SyncedWrite instead;

    /** What becomes of a synced write. */
    public interface SyncedWrite {
        void write(DiskFile file, ByteBuffer source, long position) throws IOException;
    }

    public MistakenWrites(Disk disk, SyncedWrite instead) {
        super(disk);
        this.instead = instead;
    }

    @Override
    protected DiskFile wrap(String name, DiskFile file) {
        return new ForwardingFile(file) {
            @Override
            public void writeSynced(ByteBuffer source, long position) throws IOException {
                instead.write(file, source, position);
            }
        };
    }
}
