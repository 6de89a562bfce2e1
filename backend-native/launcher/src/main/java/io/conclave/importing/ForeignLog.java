package io.conclave.importing;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.Adler32;
import org.jspecify.annotations.Nullable;

/**
 * A transaction log of ZooKeeper: a header, then records, then zeros, which were written ahead. A record is a checksum,
 * a length, a transaction and the letter B.
 */
final class ForeignLog implements AutoCloseable {
    static final String PREFIX = "log.";

    private static final int MAGIC =
            ByteBuffer.wrap(new byte[] {'Z', 'K', 'L', 'G'}).getInt();
    private static final int VERSION = 2;
    private static final int HEADER = 2 * Integer.BYTES + Long.BYTES;
    private static final int RECORD_HEADER = Long.BYTES + Integer.BYTES;
    private static final byte END_OF_RECORD = 'B';

    private final Path file;
    private final InputStream in;
    private final long length;
    private long offset;
    private boolean torn;

    /** Opens it and reads the header. */
    ForeignLog(Path file) throws IOException {
        this.file = file;
        length = Files.size(file);
        in = new BufferedInputStream(Files.newInputStream(file), 1 << 16);
        try {
            readHeader();
        } catch (IOException e) {
            in.close();
            throw e;
        }
    }

    private void readHeader() throws IOException {
        byte[] header = read(HEADER);
        if (header.length < HEADER || isZero(header)) { // the process ended before anything was written
            requireZeros(0, header.length < HEADER || isZero(header));
            torn = true;
            return;
        }
        ByteBuffer fields = ByteBuffer.wrap(header);
        int magic = fields.getInt();
        if (magic != MAGIC) {
            throw refused(0, "no transaction log of ZooKeeper: it begins with 0x" + Integer.toHexString(magic));
        }
        int version = fields.getInt();
        if (version != VERSION) {
            throw refused(Integer.BYTES, "format version " + version + "; only " + VERSION + " is understood");
        }
    }

    /**
     * The next transaction, or null at the end. A record that was not written to its end is the end as well, if nothing
     * but zeros follows: its write was never acknowledged.
     */
    @Nullable
    JuteFile next() throws IOException {
        if (torn || offset == length) {
            return null;
        }
        long start = offset;
        byte[] header = read(RECORD_HEADER);
        ByteBuffer fields = ByteBuffer.wrap(header);
        if (header.length < RECORD_HEADER) {
            return end(isZero(header));
        }
        long checksum = fields.getLong();
        int size = fields.getInt();
        if (size == 0) {
            requireZeros(start, checksum == 0);
            return null;
        }
        if (size < 0 || size > JuteFile.MAX_LENGTH) {
            throw refused(start, "a transaction of " + size + " bytes");
        }
        byte[] content = read(size);
        byte[] last = read(1);
        if (last.length == 0) {
            requireTorn(start, content, checksum);
            return end(false);
        }
        if (last[0] != END_OF_RECORD || checksumOf(content) != checksum) {
            if (last[0] != 0) {
                throw refused(start, "the checksum of a transaction does not fit");
            }
            requireTorn(start, content, checksum);
            requireZeros(start, true);
            torn = true;
            return null;
        }
        return new JuteFile(file, new ByteArrayInputStream(content), start + RECORD_HEADER);
    }

    private @Nullable JuteFile end(boolean isPadding) {
        torn = !isPadding || torn;
        offset = length;
        return null;
    }

    /**
     * A record that is not whole was not written to its end: in a file that was made longer ahead, its last pages are
     * zeros. If it is whole with another length, that length is damaged.
     */
    private void requireTorn(long start, byte[] content, long checksum) throws ForeignDataException {
        Adler32 soFar = new Adler32();
        for (int i = 0; i < content.length; i++) {
            if (content[i] == END_OF_RECORD && soFar.getValue() == checksum) {
                throw refused(start, "the length of a transaction is damaged: with " + i + " bytes it is whole");
            }
            soFar.update(content[i]);
        }
    }

    private void requireZeros(long start, boolean isZeroSoFar) throws IOException {
        byte[] rest = read(1 << 16);
        boolean isZero = isZeroSoFar;
        while (isZero && rest.length > 0) {
            isZero = isZero(rest);
            rest = read(1 << 16);
        }
        if (!isZero) {
            throw refused(start, "no whole transaction begins here, but the file goes on");
        }
        offset = length;
    }

    /** Whether its last record was not written to its end. */
    boolean isTorn() {
        return torn;
    }

    private byte[] read(int count) throws IOException {
        byte[] bytes = in.readNBytes(count);
        offset += bytes.length;
        return bytes;
    }

    private static boolean isZero(byte[] bytes) {
        for (byte value : bytes) {
            if (value != 0) {
                return false;
            }
        }
        return true;
    }

    private static long checksumOf(byte[] content) {
        Adler32 checksum = new Adler32();
        checksum.update(content);
        return checksum.getValue();
    }

    private ForeignDataException refused(long at, String problem) {
        return new ForeignDataException(file, at, problem);
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
