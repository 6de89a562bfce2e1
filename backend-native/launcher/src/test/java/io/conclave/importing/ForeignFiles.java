package io.conclave.importing;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.Adler32;
import org.jspecify.annotations.Nullable;

/** Writes small files as ZooKeeper does, by its formats and not by its code. */
public final class ForeignFiles {
    /** Of the session that has an ephemeral in the snapshot. */
    public static final long SESSION = 0x100000000000001L;

    private static final int OPEN = -1;

    private ForeignFiles() {}

    /** Writes a value. */
    interface Fields {
        void to(DataOutputStream out) throws IOException;
    }

    static byte[] bytes(Fields fields) {
        try {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            fields.to(new DataOutputStream(bytes));
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    static void text(DataOutputStream out, String text) throws IOException {
        buffer(out, text.getBytes(StandardCharsets.UTF_8));
    }

    static void buffer(DataOutputStream out, byte @Nullable [] bytes) throws IOException {
        out.writeInt(bytes == null ? -1 : bytes.length);
        if (bytes != null) {
            out.write(bytes);
        }
    }

    static void acl(DataOutputStream out) throws IOException {
        out.writeInt(1);
        out.writeInt(31);
        text(out, "world");
        text(out, "anyone");
    }

    static void znode(DataOutputStream out, String path, int cversion, long owner) throws IOException {
        znode(out, path, cversion, owner, path.isEmpty() ? OPEN : 1);
    }

    /** One whose ACL has a number; 1 is the only one that is listed. */
    static void znode(DataOutputStream out, String path, int cversion, long owner, long acl) throws IOException {
        znode(out, path, path.getBytes(StandardCharsets.UTF_8), cversion, owner, acl);
    }

    private static void znode(DataOutputStream out, String path, byte[] data, int cversion, long owner, long acl)
            throws IOException {
        text(out, path);
        buffer(out, data);
        out.writeLong(acl);
        for (int i = 0; i < 4; i++) {
            out.writeLong(path.isEmpty() ? 0 : 5); // czxid, mzxid, ctime, mtime
        }
        out.writeInt(0);
        out.writeInt(cversion);
        out.writeInt(0);
        out.writeLong(owner);
        out.writeLong(path.isEmpty() ? 0 : 5);
    }

    private static byte[] sealed(byte[] content) {
        Adler32 checksum = new Adler32();
        checksum.update(content);
        return bytes(out -> {
            out.write(content);
            out.writeLong(checksum.getValue());
            text(out, "/");
        });
    }

    /** {@code /}, {@code /a}, {@code /a/e} of {@link #SESSION}; with a digest as 3.6 and later have it. */
    static byte[] snapshot() {
        return snapshot(SESSION);
    }

    /** As {@link #snapshot()}, but {@code /a/e} has this owner. */
    static byte[] snapshot(long owner) {
        return snapshot(out -> znode(out, "/a/e", 0, owner));
    }

    /** {@code /}, {@code /a}, and more. */
    static byte[] snapshot(Fields more) {
        byte[] first = sealed(bytes(out -> {
            out.writeBytes("ZKSN");
            out.writeInt(2);
            out.writeLong(-1);
            out.writeInt(1);
            out.writeLong(SESSION);
            out.writeInt(30_000);
            out.writeInt(1);
            out.writeLong(1);
            acl(out);
            znode(out, "", 1, 0);
            znode(out, "/a", 1, 0);
            more.to(out);
            text(out, "/");
        }));
        return sealed(bytes(out -> {
            out.write(first);
            out.writeLong(5);
            out.writeInt(2);
            out.writeLong(4711);
        }));
    }

    static byte[] transaction(long zxid, int type, Fields fields) {
        return transaction(SESSION, zxid, type, fields);
    }

    static byte[] transaction(long session, long zxid, int type, Fields fields) {
        return bytes(out -> {
            out.writeLong(session);
            out.writeInt(1);
            out.writeLong(zxid);
            out.writeLong(1_000 + zxid);
            out.writeInt(type);
            fields.to(out);
        });
    }

    static byte[] create(long zxid, String path, int parentCversion) {
        return transaction(zxid, 1, out -> {
            text(out, path);
            buffer(out, null);
            acl(out);
            out.writeBoolean(false);
            out.writeInt(parentCversion);
        });
    }

    /** With the digest that 3.6 and later write behind a transaction. */
    static byte[] digested(byte[] transaction, long digest) {
        return bytes(out -> {
            out.write(transaction);
            out.writeInt(2);
            out.writeLong(digest);
        });
    }

    /** A log with zeros behind it, which ZooKeeper writes ahead. */
    static byte[] log(byte[]... transactions) {
        return bytes(out -> {
            out.writeBytes("ZKLG");
            out.writeInt(2);
            out.writeLong(0);
            for (byte[] transaction : transactions) {
                Adler32 checksum = new Adler32();
                checksum.update(transaction);
                out.writeLong(checksum.getValue());
                buffer(out, transaction);
                out.write('B');
            }
            out.write(new byte[100]);
        });
    }

    /** A dataDir with a snapshot at 5 in which {@code /large} has so many bytes. */
    public static Path writeLarge(Path directory, int bytes) throws IOException {
        Path version = Files.createDirectories(directory.resolve("version-2"));
        Files.write(version.resolve("snapshot.5"), snapshot(out -> znode(out, "/large", new byte[bytes], 0, 0, 1)));
        Files.write(version.resolve("log.6"), log(create(6, "/b", 2)));
        return directory;
    }

    /** A dataDir with a snapshot at 5, and {@code /b} and {@code /a/c} created behind it. */
    public static Path write(Path directory) throws IOException {
        Path version = Files.createDirectories(directory.resolve("version-2"));
        Files.write(version.resolve("snapshot.5"), snapshot());
        Files.write(version.resolve("log.6"), log(create(6, "/b", 2), create(7, "/a/c", 2)));
        return directory;
    }
}
