package io.conclave.protocol;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads jute's binary form from a frame, moving the frame's reader index. Every length is checked against what is left
 * of the frame before anything is allocated, so a frame costs memory in proportion to its own size at most.
 *
 * <p>Whatever does not fit throws {@link MalformedFrameException}, which names the field. Not safe for use by several
 * threads; never blocks; does not release the buffer and keeps no part of it.
 */
public final class JuteReader {
    private static final int LENGTH_BYTES = Integer.BYTES;

    private static final byte[] NO_BYTES = {};

    private final ByteBuf in;
    private final int maxPathBytes;
    private final boolean skipsBuffers;
    private int skippedBytes;

    /**
     * A reader of one frame.
     *
     * @param in the payload, without the frame's length
     */
    public JuteReader(ByteBuf in) {
        this(in, Integer.MAX_VALUE);
    }

    /**
     * A reader of one frame whose paths are bounded.
     *
     * @param in the payload, without the frame's length
     * @param maxPathBytes how long a path may be; a longer one is a {@link PathTooLongException}
     */
    public JuteReader(ByteBuf in, int maxPathBytes) {
        this(in, maxPathBytes, false);
    }

    private JuteReader(ByteBuf in, int maxPathBytes, boolean skipsBuffers) {
        this.in = in;
        this.maxPathBytes = maxPathBytes;
        this.skipsBuffers = skipsBuffers;
    }

    /**
     * Reads the same from here on, and leaves this as it is. What it reads has buffers without bytes: it is for a look
     * at all but the data, which takes no memory for them.
     */
    public JuteReader ahead() {
        return new JuteReader(in.duplicate(), maxPathBytes, true);
    }

    /** How many bytes of buffers were skipped by a reader {@link #ahead}. */
    public int skippedBytes() {
        return skippedBytes;
    }

    /** The number of bytes not read yet. */
    public int remaining() {
        return in.readableBytes();
    }

    /** Reads one byte; anything but zero is true. */
    public boolean readBool(String field) {
        require(field, 1);
        return in.readByte() != 0;
    }

    /** Reads four bytes, the highest first. */
    public int readInt(String field) {
        require(field, Integer.BYTES);
        return in.readInt();
    }

    /** Reads eight bytes, the highest first. */
    public long readLong(String field) {
        require(field, Long.BYTES);
        return in.readLong();
    }

    /** Reads a buffer; null where the wire says null. */
    public byte @Nullable [] readBuffer(String field) {
        int length = readLength(field);
        if (length < 0) {
            return null;
        }
        if (skipsBuffers) {
            in.skipBytes(length);
            skippedBytes += length;
            return NO_BYTES;
        }
        byte[] bytes = new byte[length];
        in.readBytes(bytes);
        return bytes;
    }

    /** Reads a string; null is read as empty, and bytes that are not UTF-8 as U+FFFD. */
    public String readString(String field) {
        String value = readNullableString(field);
        return value == null ? "" : value;
    }

    /** Reads a string; null where the wire says null, and bytes that are not UTF-8 as U+FFFD. */
    public @Nullable String readNullableString(String field) {
        int length = readLength(field);
        if (length < 0) {
            return null;
        }
        String value = in.toString(in.readerIndex(), length, StandardCharsets.UTF_8);
        in.skipBytes(length);
        return value;
    }

    /** Reads a path, unless it is too long. A null is malformed, as in ZooKeeper. */
    public String readPath(String field) {
        checkPathLength(field);
        String path = readNullableString(field);
        if (path == null) {
            throw new MalformedFrameException(field, "null is no path");
        }
        return path;
    }

    /** Reads a path as {@link #readPath} does, but for a null, which is read as empty: some requests may have one. */
    public String readPathIfAny(String field) {
        checkPathLength(field);
        return readString(field);
    }

    /** A length beyond the end of the frame is no long path: reading it says that it is malformed. */
    private void checkPathLength(String field) {
        if (remaining() >= LENGTH_BYTES) {
            int bytes = in.getInt(in.readerIndex());
            if (bytes > maxPathBytes && bytes <= remaining() - LENGTH_BYTES) {
                throw new PathTooLongException(field, bytes, maxPathBytes);
            }
        }
    }

    /** Reads a vector of strings; null is read as empty. */
    public List<String> readStrings(String field) {
        return readVector(field, LENGTH_BYTES, reader -> reader.readString(field));
    }

    /**
     * Reads a vector; null is read as empty.
     *
     * @param field what is read, for error messages
     * @param minElementBytes the least that one element takes on the wire, at least 1: it bounds the count
     * @param element reads one element
     * @return a list that cannot be modified
     */
    public <T> List<T> readVector(String field, int minElementBytes, Function<JuteReader, T> element) {
        int count = readCount(field, minElementBytes);
        if (count == 0) {
            return List.of();
        }
        List<T> elements = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            elements.add(element.apply(this));
        }
        return Collections.unmodifiableList(elements);
    }

    /** Reads how many elements a vector has; null is read as 0. */
    int readCount(String field, int minElementBytes) {
        int count = readInt(field);
        if (count < -1) {
            throw new MalformedFrameException(field, "count " + count + " is negative (only -1, null, may be)");
        }
        if (count > remaining() / minElementBytes) {
            throw new MalformedFrameException(
                    field,
                    "count " + count + " needs at least " + minElementBytes + " bytes each, but " + remaining()
                            + " are left in the frame");
        }
        return Math.max(0, count);
    }

    /** Reads all that is left. */
    byte[] readRemaining() {
        byte[] bytes = new byte[remaining()];
        in.readBytes(bytes);
        return bytes;
    }

    private int readLength(String field) {
        int length = readInt(field);
        if (length < -1) {
            throw new MalformedFrameException(field, "length " + length + " is negative (only -1, null, may be)");
        }
        if (length > 0) {
            require(field, length);
        }
        return length;
    }

    private void require(String field, int bytes) {
        if (bytes > in.readableBytes()) {
            throw new MalformedFrameException(
                    field, "needs " + bytes + " bytes, but " + in.readableBytes() + " are left in the frame");
        }
    }
}
