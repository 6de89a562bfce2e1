package io.conclave.importing;

import io.conclave.tree.ZnodeAcl;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * A snapshot of ZooKeeper: a header, the sessions, the ACLs, the znodes parents first, and a seal (the checksum of all
 * before it). 3.6 and later add a digest, 3.9 perhaps the last zxid, each with a seal of its own.
 */
final class ForeignSnapshot {
    static final String PREFIX = "snapshot.";

    private static final int MAGIC =
            ByteBuffer.wrap(new byte[] {'Z', 'K', 'S', 'N'}).getInt();
    private static final int VERSION = 2;
    private static final int MAX_COUNT = 1 << 28;
    private static final String END = "/";

    /** A path of one character, "/": how each whole snapshot ends. */
    private static final byte[] LAST_BYTES = {0, 0, 0, 1, '/'};

    private static final int SEAL = Long.BYTES + Integer.BYTES + 1;
    private static final int DIGEST = 2 * Long.BYTES + Integer.BYTES;
    private static final int LAST_ZXID = Long.BYTES;
    private static final int MOST_EXTRAS = 2 * (DIGEST + LAST_ZXID + SEAL);

    /** What the upper bits of the owner are of a znode that is neither plain nor ephemeral nor a container. */
    private static final long EXTENDED = 0xff;

    /** The same as ZooKeeper 3.5.3 wrote it, before servers of a high number made sessions that look alike. */
    private static final long EXTENDED_BY_3_5_3 = 0x80;

    private static final long CONTAINER = Long.MIN_VALUE;
    private static final int EXTENDED_SHIFT = 56;
    private static final int TTL_SHIFT = 40;

    private final Map<Long, ZnodeAcl> acls = new HashMap<>();
    private final JuteFile in;
    private final ReplayedTree tree = new ReplayedTree();

    private long digestZxid;
    private OptionalLong digest = OptionalLong.empty();

    private ForeignSnapshot(JuteFile in) {
        this.in = in;
        acls.put(-1L, ZnodeAcl.OPEN); // also of snapshots that do not list it
    }

    /** Whether ZooKeeper came to its end when it wrote the file, as far as the last bytes tell. */
    static boolean isWhole(Path file) throws IOException {
        byte[] last = new byte[0];
        try (InputStream in = open(file)) {
            byte[] buffer = new byte[1 << 16];
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                byte[] joined = Arrays.copyOf(last, last.length + read);
                System.arraycopy(buffer, 0, joined, last.length, read);
                last = Arrays.copyOfRange(joined, Math.max(0, joined.length - LAST_BYTES.length), joined.length);
            }
        } catch (EOFException | ZipException e) {
            return false;
        }
        return Arrays.equals(last, LAST_BYTES);
    }

    /** What is in it. */
    static ForeignSnapshot read(Path file) throws IOException {
        try (InputStream in = open(file)) {
            ForeignSnapshot snapshot = new ForeignSnapshot(new JuteFile(file, in, 0));
            snapshot.readAll();
            return snapshot;
        } catch (EOFException | ZipException e) {
            throw new ForeignDataException(file, 0, "what was compressed cannot be read: " + e.getMessage());
        }
    }

    /** It may hold parts of transactions behind the zxid in the file's name. */
    ReplayedTree tree() {
        return tree;
    }

    /** The {@link ForeignDigest} of the tree right behind a transaction, if ZooKeeper wrote that one. */
    OptionalLong digestAt(long zxid) {
        return zxid == digestZxid ? digest : OptionalLong.empty();
    }

    private static InputStream open(Path file) throws IOException {
        InputStream bytes = new BufferedInputStream(Files.newInputStream(file), 1 << 16);
        String name = String.valueOf(file.getFileName());
        try {
            if (name.endsWith(".snappy")) {
                throw new ForeignDataException(
                        file,
                        0,
                        "snappy is not read; let ZooKeeper write a snapshot without"
                                + " zookeeper.snapshot.compression.method=snappy");
            }
            return name.endsWith(".gz") ? new GZIPInputStream(bytes, 1 << 16) : bytes;
        } catch (IOException e) {
            bytes.close();
            throw e;
        }
    }

    private void readAll() throws IOException {
        readHeader();
        readSessions();
        readAcls();
        String path = in.readString("path");
        while (!path.equals(END)) {
            readNode(path);
            path = in.readString("path");
        }
        readSeal();
        readExtras();
    }

    private void readHeader() throws IOException {
        int magic = in.readInt("magic");
        if (magic != MAGIC) {
            throw in.refused(0, "no snapshot of ZooKeeper: it begins with 0x" + Integer.toHexString(magic));
        }
        int version = in.readInt("version");
        if (version != VERSION) {
            throw in.refused(Integer.BYTES, "format version " + version + "; only " + VERSION + " is understood");
        }
        in.readLong("database id");
    }

    /** They end with the import, and are only counted. */
    private void readSessions() throws IOException {
        int count = in.readCount("number of sessions", MAX_COUNT);
        for (int i = 0; i < count; i++) {
            tree.openSession(in.readLong("session id"));
            in.readInt("session timeout");
        }
    }

    private void readAcls() throws IOException {
        int count = in.readCount("number of ACLs", MAX_COUNT);
        for (int i = 0; i < count; i++) {
            long number = in.readLong("number of an ACL");
            acls.put(number, in.readAcl());
        }
    }

    private void readNode(String path) throws IOException {
        long start = in.offset();
        byte[] data = in.readBuffer("data of " + path);
        long number = in.readLong("ACL of " + path);
        // The ACLs are listed before the znodes are written, while the tree changes: one that is not listed is of a
        // transaction in between, which is logged behind the snapshot.
        ReplayedTree.Node node = new ReplayedTree.Node(data, acls.get(number));
        node.czxid = in.readLong("czxid");
        node.mzxid = in.readLong("mzxid");
        node.ctime = in.readLong("ctime");
        node.mtime = in.readLong("mtime");
        node.version = in.readInt("version");
        node.cversion = in.readInt("cversion");
        node.aversion = in.readInt("aversion");
        node.owner = in.readLong("owner");
        requireKnown(path, node.owner);
        node.pzxid = in.readLong("pzxid");
        if (!tree.read(path.isEmpty() ? ReplayedTree.ROOT : path, node)) {
            throw in.refused(start, path + " comes twice, or before its parent");
        }
    }

    private void requireKnown(String path, long owner) throws ForeignDataException {
        if (owner >>> EXTENDED_SHIFT == EXTENDED && owner >>> TTL_SHIFT != EXTENDED << (EXTENDED_SHIFT - TTL_SHIFT)) {
            throw in.refused(path + " is of a kind that is not understood: its owner is 0x" + Long.toHexString(owner));
        }
        if (owner != CONTAINER && owner >>> TTL_SHIFT == EXTENDED_BY_3_5_3 << (EXTENDED_SHIFT - TTL_SHIFT)) {
            throw in.refused(path + " has a time to live as ZooKeeper 3.5.3 writes it, and later releases with"
                    + " zookeeper.emulate353TTLNodes (its owner is 0x" + Long.toHexString(owner)
                    + "). It cannot be told from an ephemeral of server 128 for certain: delete it in ZooKeeper, or "
                    + "make it anew without that setting, and import again");
        }
    }

    private void readSeal() throws IOException {
        long start = in.offset();
        long expected = in.checksum();
        long found = in.readLong("checksum");
        if (found != expected) {
            throw in.refused(
                    start,
                    "the checksum is 0x" + Long.toHexString(found) + ", and of what was read 0x"
                            + Long.toHexString(expected));
        }
        String end = in.readString("end");
        if (!end.equals(END)) {
            throw in.refused(start, "a seal ends with \"" + end + "\"");
        }
    }

    /** The parts differ in length, so what is left tells which they are. */
    private void readExtras() throws IOException {
        long start = in.offset();
        int left = in.bytesLeft(MOST_EXTRAS);
        switch (left) {
            case 0 -> {}
            case DIGEST + SEAL -> readDigest();
            case LAST_ZXID + SEAL -> readLastZxid();
            case DIGEST + SEAL + LAST_ZXID + SEAL -> {
                readDigest();
                readLastZxid();
            }
            default -> throw in.refused(start, left + " bytes or more follow whose meaning is not known");
        }
    }

    private void readDigest() throws IOException {
        digestZxid = in.readLong("digest's zxid");
        int version = in.readInt("digest's version");
        long value = in.readLong("digest");
        digest = version == ForeignDigest.VERSION ? OptionalLong.of(value) : OptionalLong.empty();
        readSeal();
    }

    /** Replaying starts at the zxid of the file's name in any case. */
    private void readLastZxid() throws IOException {
        in.readLong("last zxid");
        readSeal();
    }
}
