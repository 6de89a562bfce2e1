package io.conclave.consensus.store;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.LogException;
import io.conclave.consensus.entry.EntryCodec;
import java.nio.ByteBuffer;
import java.util.UUID;

/** Sizes and numbers of the file formats; see the classes of each file for its layout. All numbers are big-endian. */
final class LogFormat {
    /** The unit that a disk writes whole or not at all. */
    static final int SECTOR = 512;

    static final int VERSION = 1;
    static final int SEGMENT_HEADER_BYTES = SECTOR;

    /** Kept free at the end of a segment for TERM entries, so that a member with a full disk can still restart. */
    static final int RESERVE_BYTES = 16 * SECTOR;

    static final String TEMPORARY = ".tmp";
    static final String DAMAGED = ".damaged";

    private LogFormat() {}

    static long wholeSectors(long bytes) {
        return (bytes + SECTOR - 1) / SECTOR * SECTOR;
    }

    static long batchBytes(int entries, long payloadBytes) {
        return BatchHeader.BYTES + (long) entries * EntryCodec.HEADER_BYTES + payloadBytes;
    }

    static ByteBuffer putId(ByteBuffer target, UUID id) {
        return target.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
    }

    static UUID getId(ByteBuffer source) {
        return new UUID(source.getLong(), source.getLong());
    }

    static void requireMagic(String path, long found, long expected) {
        if (found != expected) {
            throw new DamagedLogException(path, 0, "it does not start with the magic number of its kind");
        }
    }

    static void requireVersion(String path, int version) {
        requireVersion(path, version, 1, VERSION);
    }

    static void requireVersion(String path, int version, int oldest, int newest) {
        if (version < oldest || version > newest) {
            throw new LogException(path + " has format version " + version + "; this software reads "
                    + (oldest == newest ? "" : oldest + " to ") + newest);
        }
    }

    static void requireCluster(String path, UUID found, UUID expected) {
        if (!found.equals(expected)) {
            throw new LogException(path + " belongs to cluster " + found + ", but this directory to " + expected
                    + ": files of another cluster were copied here");
        }
    }

    static void requireFeatureLevel(Object where, int found, int known) {
        if (found > known) {
            throw new LogException(where + " uses feature level " + found + ", this software understands " + known
                    + " at most: a newer version has run here");
        }
    }

    /** The 16 hexadecimal digits in a file's name, or -1 if they are not. */
    static long parseHex(String name, int from) {
        try {
            return Long.parseLong(name, from, from + 16, 16);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
