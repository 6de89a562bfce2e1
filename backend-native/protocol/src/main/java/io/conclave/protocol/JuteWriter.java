package io.conclave.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes jute's binary form straight into the destination buffer. Not safe for use by several threads; never blocks;
 * does not release the buffer.
 */
public final class JuteWriter {
    private static final int NULL_LENGTH = -1;

    /** From so many characters on, the bytes of a string are counted first: what is written asks for room for it. */
    private static final int COUNTED_CHARS = 256;

    private final ByteBuf out;

    /**
     * A writer that appends.
     *
     * @param out the destination, which must be able to grow
     */
    public JuteWriter(ByteBuf out) {
        this.out = out;
    }

    /** Makes room for so many bytes at once, which spares checks and growth in small steps. */
    void reserve(int bytes) {
        out.ensureWritable(bytes);
    }

    /** Writes one byte, 1 or 0. */
    public void writeBool(boolean value) {
        out.writeByte(value ? 1 : 0);
    }

    /** Writes four bytes, the highest first. */
    public void writeInt(int value) {
        out.writeInt(value);
    }

    /** Writes eight bytes, the highest first. */
    public void writeLong(long value) {
        out.writeLong(value);
    }

    /** Writes a buffer, or null. */
    public void writeBuffer(byte @Nullable [] value) {
        if (value == null) {
            out.writeInt(NULL_LENGTH);
            return;
        }
        out.writeInt(value.length);
        out.writeBytes(value);
    }

    /** Writes a string as UTF-8, or null. A surrogate without its other half becomes '?'. */
    public void writeString(@Nullable String value) {
        if (value == null) {
            out.writeInt(NULL_LENGTH);
            return;
        }
        // Encoded in place with the length patched afterwards: no array in between. What is not counted first asks for
        // three bytes of room for each character, and the buffer may stay that large until a client reads it.
        int lengthIndex = out.writerIndex();
        out.writeInt(0);
        int bytes = value.length() < COUNTED_CHARS
                ? ByteBufUtil.writeUtf8(out, value)
                : ByteBufUtil.reserveAndWriteUtf8(out, value, ByteBufUtil.utf8Bytes(value));
        out.setInt(lengthIndex, bytes);
    }

    /** Writes a vector of strings. */
    public void writeStrings(List<String> values) {
        out.writeInt(values.size());
        for (String value : values) {
            writeString(value);
        }
    }

    /** Writes a vector of records. */
    public void writeVector(List<? extends WireRecord> values) {
        out.writeInt(values.size());
        for (WireRecord value : values) {
            value.encode(this);
        }
    }

    /** Appends what another writer has encoded; that stays as it is. */
    public void writeEncoded(ByteBuf encoded) {
        out.writeBytes(encoded, encoded.readerIndex(), encoded.readableBytes());
    }

    /** Writes bytes as they are, without a length. */
    void writeRaw(byte[] bytes) {
        out.writeBytes(bytes);
    }
}
