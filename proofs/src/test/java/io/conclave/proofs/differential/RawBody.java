package io.conclave.proofs.differential;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.apache.jute.InputArchive;
import org.apache.jute.OutputArchive;
import org.apache.jute.Record;

/** The body of a request as bytes, which no record of ZooKeeper's has to be able to say. */
final class RawBody implements Record {
    static final RawBody EMPTY = new RawBody(new byte[0]);

    private static final int ALL_RIGHTS = 31;

    private final byte[] bytes;

    private RawBody(byte[] bytes) {
        this.bytes = bytes;
    }

    private interface Writing {
        void to(DataOutputStream out) throws IOException;
    }

    private RawBody with(Writing writing) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(all)) {
            out.write(bytes);
            writing.to(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new RawBody(all.toByteArray());
    }

    static RawBody path(String path) {
        return EMPTY.string(path);
    }

    /** A path that is null. */
    static RawBody noPath() {
        return EMPTY.number(-1);
    }

    RawBody string(String text) {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        return with(out -> {
            out.writeInt(encoded.length);
            out.write(encoded);
        });
    }

    RawBody number(int number) {
        return with(out -> out.writeInt(number));
    }

    RawBody large(long number) {
        return with(out -> out.writeLong(number));
    }

    RawBody flag(boolean flag) {
        return with(out -> out.writeBoolean(flag));
    }

    RawBody then(RawBody more) {
        return with(out -> out.write(more.bytes));
    }

    /** An ACL that is open to all. */
    RawBody open() {
        return acl(ALL_RIGHTS, "world", "anyone");
    }

    /** An ACL of one entry. */
    RawBody acl(int rights, String scheme, String id) {
        return number(1).number(rights).string(scheme).string(id);
    }

    /** What stands in front of each part of a multi. */
    RawBody part(int type) {
        return number(type).flag(false).number(-1);
    }

    /** The end of a multi. */
    RawBody end() {
        return number(-1).flag(true).number(-1);
    }

    int length() {
        return bytes.length;
    }

    /** The first bytes of it. */
    RawBody cut(int length) {
        return new RawBody(Arrays.copyOf(bytes, length));
    }

    @Override
    public void serialize(OutputArchive archive, String tag) throws IOException {
        for (byte each : bytes) {
            archive.writeByte(each, tag);
        }
    }

    @Override
    public void deserialize(InputArchive archive, String tag) {
        throw new UnsupportedOperationException("a body is only sent");
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
