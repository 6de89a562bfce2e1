package io.conclave.importing;

import io.conclave.tree.AclEntry;
import io.conclave.tree.AuthId;
import io.conclave.tree.ZnodeAcl;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Adler32;
import org.jspecify.annotations.Nullable;

/** Values in ZooKeeper's serialization (jute), read one after the other from a file or a part of one. */
final class JuteFile {
    /** Longer than any buffer that ZooKeeper takes in its default configuration, by far. */
    static final int MAX_LENGTH = 1 << 28;

    private static final int MAX_ACL_ENTRIES = 1 << 16;

    private final Path file;
    private InputStream in;
    private final Adler32 checksum = new Adler32();
    private long offset;

    /**
     * @param offset of the stream's first byte in the file; in a compressed one, in what it holds
     */
    JuteFile(Path file, InputStream in, long offset) {
        this.file = file;
        this.in = in;
        this.offset = offset;
    }

    ForeignDataException refused(String problem) {
        return refused(offset, problem);
    }

    ForeignDataException refused(long at, String problem) {
        return new ForeignDataException(file, at, problem);
    }

    /** A part that was read as a whole. */
    JuteFile part(long start, byte[] content) {
        return new JuteFile(file, new ByteArrayInputStream(content), start);
    }

    long offset() {
        return offset;
    }

    /** Adler-32 of all that was read. */
    long checksum() {
        return checksum.getValue();
    }

    byte[] readRaw(int length, String what) throws IOException {
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw refused("the file ends in the middle of: " + what);
        }
        checksum.update(bytes);
        offset += length;
        return bytes;
    }

    /** How many bytes are left, up to a limit; they can still be read. */
    int bytesLeft(int most) throws IOException {
        byte[] left = in.readNBytes(most);
        in = new SequenceInputStream(new ByteArrayInputStream(left), in);
        return left.length;
    }

    byte readByte(String what) throws IOException {
        return readRaw(1, what)[0];
    }

    boolean readBoolean(String what) throws IOException {
        byte value = readByte(what);
        if (value != 0 && value != 1) {
            throw refused(offset - 1, what + " is " + value + ", not 0 or 1");
        }
        return value == 1;
    }

    int readInt(String what) throws IOException {
        return ByteBuffer.wrap(readRaw(Integer.BYTES, what)).getInt();
    }

    long readLong(String what) throws IOException {
        return ByteBuffer.wrap(readRaw(Long.BYTES, what)).getLong();
    }

    /** A number of things that follow. */
    int readCount(String what, int most) throws IOException {
        int count = readInt(what);
        if (count < 0 || count > most) {
            throw refused(offset - Integer.BYTES, what + " is " + count + ", not 0 to " + most);
        }
        return count;
    }

    byte @Nullable [] readBuffer(String what) throws IOException {
        int length = readInt(what);
        if (length == -1) {
            return null;
        }
        if (length < 0 || length > MAX_LENGTH) {
            throw refused(offset - Integer.BYTES, what + " has a length of " + length);
        }
        return readRaw(length, what);
    }

    String readString(String what) throws IOException {
        long start = offset;
        byte[] bytes = readBuffer(what);
        if (bytes == null) {
            throw refused(start, what + " is null");
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw refused(start, what + " is no UTF-8");
        }
    }

    /** A list of permissions; null and an empty one, which allow everything, are the same. */
    ZnodeAcl readAcl() throws IOException {
        int count = readInt("number of an ACL's entries");
        if (count < -1 || count > MAX_ACL_ENTRIES) {
            throw refused(offset - Integer.BYTES, "an ACL with " + count + " entries");
        }
        List<AclEntry> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int permissions = readInt("permissions");
            String scheme = readString("scheme");
            entries.add(new AclEntry(permissions, new AuthId(scheme, readString("id"))));
        }
        ZnodeAcl acl = new ZnodeAcl(entries);
        return acl.equals(ZnodeAcl.OPEN) ? ZnodeAcl.OPEN : acl;
    }
}
