package io.conclave.tree;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Appends values, big-endian, to an array that grows. The counterpart of {@link FieldReader}. */
final class FieldWriter {
    /** The length that stands for null. */
    static final int NULL_LENGTH = -1;

    private byte[] bytes;
    private ByteBuffer buffer;

    FieldWriter(int capacity) {
        bytes = new byte[capacity];
        buffer = ByteBuffer.wrap(bytes);
    }

    private ByteBuffer room(int needed) {
        if (buffer.remaining() < needed) {
            int position = buffer.position();
            bytes = Arrays.copyOf(bytes, Math.max(Math.addExact(position, needed), Math.min(2 * position, 1 << 30)));
            buffer = ByteBuffer.wrap(bytes).position(position);
        }
        return buffer;
    }

    void writeByte(int value) {
        room(1).put((byte) value);
    }

    void writeInt(int value) {
        room(Integer.BYTES).putInt(value);
    }

    void writeLong(long value) {
        room(Long.BYTES).putLong(value);
    }

    void writeRaw(byte[] value) {
        room(value.length).put(value);
    }

    void writeBytes(byte @Nullable [] value) {
        if (value == null) {
            writeInt(NULL_LENGTH);
        } else {
            writeInt(value.length);
            writeRaw(value);
        }
    }

    /** Strings come from decoded UTF-8, so they can be encoded; half a surrogate pair is refused. */
    void writeString(String value) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        if (utf8.length == value.length() ? isMangled(value, utf8) : hasLoneSurrogate(value)) {
            throw new IllegalArgumentException("half a surrogate pair in " + value);
        }
        writeBytes(utf8);
    }

    /** As many bytes as chars: plain ASCII, unless a question mark stands for what could not be encoded. */
    private static boolean isMangled(String value, byte[] utf8) {
        for (int i = 0; i < utf8.length; i++) {
            if (utf8[i] == '?' && value.charAt(i) != '?') {
                return true;
            }
        }
        return false;
    }

    private static boolean hasLoneSurrogate(String value) {
        return value.codePoints()
                .anyMatch(point -> point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE);
    }

    void writeAuthIds(List<AuthId> ids) {
        writeInt(ids.size());
        for (AuthId id : ids) {
            writeAuthId(id);
        }
    }

    void writeAcl(ZnodeAcl acl) {
        writeInt(acl.entries().size());
        for (AclEntry entry : acl.entries()) {
            writeInt(entry.permissions());
            writeAuthId(entry.id());
        }
    }

    private void writeAuthId(AuthId id) {
        writeString(id.scheme());
        writeString(id.id());
    }

    int size() {
        return buffer.position();
    }

    byte[] toBytes() {
        return Arrays.copyOf(bytes, size());
    }

    /** Where the {@link #size} bytes written so far are; valid until the next write. */
    byte[] array() {
        return bytes;
    }

    /** Starts again from nothing. */
    void clear() {
        buffer.clear();
    }
}
