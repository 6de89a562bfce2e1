package io.conclave.consensus.entry;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The bytes of entries, in files and messages alike:
 *
 * <pre>
 *   kind 1 | member 4 | incarnation 8 | sequence 8 | length of the payload 4 | payload
 * </pre>
 *
 * All numbers are big-endian.
 */
public final class EntryCodec {
    /** Bytes before the payload. */
    public static final int HEADER_BYTES = 25;

    private EntryCodec() {}

    /** How many bytes the entries take. */
    public static long bytesOf(List<LogEntry> entries) {
        long bytes = 0;
        for (LogEntry entry : entries) {
            bytes += HEADER_BYTES + entry.payload().length;
        }
        return bytes;
    }

    /** Puts an entry into a buffer that has room for it. */
    public static void write(ByteBuffer target, LogEntry entry) {
        Origin origin = entry.origin();
        target.put(entry.kind().code()).putInt(origin.member());
        target.putLong(origin.incarnation()).putLong(origin.sequence());
        target.putInt(entry.payload().length).put(entry.payload());
    }

    /**
     * Takes so many entries out of a buffer.
     *
     * @throws IllegalArgumentException if they are not there, or of a kind unknown to this version
     */
    public static List<LogEntry> read(ByteBuffer source, int count) {
        if (count < 0 || count > source.remaining() / HEADER_BYTES) {
            throw new IllegalArgumentException(source.remaining() + " bytes cannot hold " + count + " entries");
        }
        List<LogEntry> entries = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            entries.add(read(source));
        }
        return entries;
    }

    private static LogEntry read(ByteBuffer source) {
        if (source.remaining() < HEADER_BYTES) {
            throw new IllegalArgumentException("an entry begins " + source.remaining() + " bytes before the end");
        }
        LogEntryKind kind = LogEntryKind.of(source.get());
        Origin origin = new Origin(source.getInt(), source.getLong(), source.getLong());
        int length = source.getInt();
        if (length < 0 || length > source.remaining()) {
            throw new IllegalArgumentException(
                    "an entry's payload has " + length + " bytes, but only " + source.remaining() + " follow");
        }
        byte[] payload = new byte[length];
        source.get(payload);
        return new LogEntry(kind, origin.equals(Origin.NONE) ? Origin.NONE : origin, payload);
    }
}
