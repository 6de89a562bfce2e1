package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.disk.SimulatedDisk;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.UUID;

/** A rule of {@link CrashSimulation}: behind the last batch of each segment the disk has zeros only. */
final class NothingBehindTheEnd {
    private NothingBehindTheEnd() {}

    /** Bytes of a torn write or of a cut that stay behind the end could be taken for a batch one day. */
    static void check(SimulatedDisk disk, UUID cluster) {
        for (String name : disk.list()) {
            if (Segment.idOf(name) < 0) {
                continue;
            }
            ByteBuffer bytes = ByteBuffer.wrap(disk.durableBytes(name));
            int end = LogFormat.SEGMENT_HEADER_BYTES;
            assertTrue(bytes.limit() > end, name + " is in use but not durable");
            Optional<BatchHeader> header =
                    BatchHeader.read(bytes.slice(end, bytes.limit() - end), cluster, Segment.idOf(name));
            while (header.isPresent() && end + header.get().stride() < bytes.limit()) {
                end += (int) header.get().stride();
                header = BatchHeader.read(bytes.slice(end, bytes.limit() - end), cluster, Segment.idOf(name));
            }
            ByteBuffer rest = bytes.slice(end, bytes.limit() - end);
            int used = rest.mismatch(ByteBuffer.allocate(rest.limit()));
            assertTrue(used < 0, "left behind the end " + end + " of " + name + " at " + (end + used));
        }
    }
}
