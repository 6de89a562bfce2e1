package io.conclave.consensus.disk;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A disk on which a sync that has failed is tried once more: a planted mistake. The second one writes nothing and says
 * yes, since the pages count as clean.
 */
public final class RetriedSyncs extends ForwardingDisk {
    /** A disk on top of another. */
    public RetriedSyncs(Disk disk) {
        super(disk);
    }

    @Override
    protected DiskFile wrap(String name, DiskFile file) {
        return new ForwardingFile(file) {
            @Override
            public void writeSynced(ByteBuffer source, long position) throws IOException {
                try {
                    file.writeSynced(source, position);
                } catch (DiskFullException e) {
                    throw e;
                } catch (IOException e) {
                    file.sync();
                }
            }

            @Override
            public void sync() throws IOException {
                try {
                    file.sync();
                } catch (IOException e) {
                    file.sync();
                }
            }
        };
    }
}
