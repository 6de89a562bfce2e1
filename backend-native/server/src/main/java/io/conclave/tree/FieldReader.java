package io.conclave.tree;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Takes values from bytes and believes nothing: every length is held against what is there before it is used. */
final class FieldReader {
    private final ByteBuffer bytes;

    FieldReader(ByteBuffer bytes) {
        this.bytes = bytes;
    }

    private ByteBuffer need(int length, String what) {
        if (bytes.remaining() < length) {
            throw new TreeFormatException(
                    what + " of " + length + " bytes, but only " + bytes.remaining() + " bytes are left");
        }
        return bytes;
    }

    byte readByte(String what) {
        return need(1, what).get();
    }

    int readInt(String what) {
        return need(Integer.BYTES, what).getInt();
    }

    long readLong(String what) {
        return need(Long.BYTES, what).getLong();
    }

    byte[] readRaw(int length, String what) {
        byte[] value = new byte[length];
        need(length, what).get(value);
        return value;
    }

    byte @Nullable [] readNullableBytes(String what) {
        int length = readInt(what);
        return length == FieldWriter.NULL_LENGTH ? null : readSized(length, what);
    }

    private byte[] readSized(int length, String what) {
        if (length < 0 || length > bytes.remaining()) {
            throw new TreeFormatException(
                    what + " has length " + length + ", but " + bytes.remaining() + " bytes are left");
        }
        return readRaw(length, what);
    }

    String readString(String what) {
        byte[] utf8 = readSized(readInt(what), what);
        String value = new String(utf8, StandardCharsets.UTF_8);
        // a replacement character is what malformed bytes become, so where one shows up look again
        if (value.indexOf('\ufffd') >= 0 && !Arrays.equals(value.getBytes(StandardCharsets.UTF_8), utf8)) {
            throw new TreeFormatException(what + " is not UTF-8");
        }
        return value;
    }

    /** A number of elements, each of which takes at least so many bytes. */
    int readCount(int minimalBytes, String what) {
        int count = readInt(what);
        if (count < 0 || count > bytes.remaining() / minimalBytes) {
            throw new TreeFormatException(
                    count + " " + what + " cannot be in the " + bytes.remaining() + " bytes that are left");
        }
        return count;
    }

    List<AuthId> readAuthIds() {
        int count = readCount(2 * Integer.BYTES, "auth ids");
        List<AuthId> ids = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            ids.add(readAuthId());
        }
        return ids;
    }

    ZnodeAcl readAcl() {
        int count = readCount(3 * Integer.BYTES, "ACL entries");
        List<AclEntry> entries = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            entries.add(new AclEntry(readInt("permissions"), readAuthId()));
        }
        return new ZnodeAcl(entries);
    }

    private AuthId readAuthId() {
        return new AuthId(readString("scheme"), readString("id"));
    }

    boolean isAtEnd() {
        return !bytes.hasRemaining();
    }

    void expectEnd() {
        if (!isAtEnd()) {
            throw new TreeFormatException(bytes.remaining() + " bytes too many");
        }
    }
}
