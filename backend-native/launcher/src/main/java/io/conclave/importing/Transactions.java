package io.conclave.importing;

import io.conclave.tree.ZnodeAcl;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Reads the transactions of ZooKeeper's logs, and does to a tree what they did. */
final class Transactions {
    private static final int CREATE = 1;
    private static final int DELETE = 2;
    private static final int SET_DATA = 5;
    private static final int SET_ACL = 7;
    private static final int CHECK = 13;
    private static final int MULTI = 14;
    private static final int CREATE2 = 15;
    private static final int RECONFIG = 16;
    private static final int CREATE_CONTAINER = 19;
    private static final int DELETE_CONTAINER = 20;
    private static final int CREATE_TTL = 21;
    private static final int ERROR = -1;
    private static final int CREATE_SESSION = -10;
    private static final int CLOSE_SESSION = -11;

    private static final long CONTAINER_OWNER = Long.MIN_VALUE;
    private static final long TTL_OWNER = 0xff00000000000000L;
    private static final int MAX_PARTS = 1 << 20;

    /** What 3.6 and later add: the version of a digest of the tree, and its value. */
    private static final int DIGEST = Integer.BYTES + Long.BYTES;

    private final ReplayedTree tree;

    /** What the last transaction says of the tree behind it. */
    private OptionalLong digest = OptionalLong.empty();

    Transactions(ReplayedTree tree) {
        this.tree = tree;
    }

    /** What stands before each transaction; its client is a session. */
    record Header(long client, long zxid, long timeMs, int type) {
        static Header read(JuteFile in) throws IOException {
            long client = in.readLong("session");
            in.readInt("request number");
            return new Header(client, in.readLong("zxid"), in.readLong("time"), in.readInt("type"));
        }
    }

    /**
     * Reads what follows the header, to the end, and does it.
     *
     * @return the {@link ForeignDigest} that the tree has then, if ZooKeeper wrote one
     */
    OptionalLong replay(Header header, JuteFile in) throws IOException {
        digest = OptionalLong.empty();
        switch (header.type()) {
            case CREATE_SESSION -> {
                in.readInt("session timeout");
                tree.openSession(header.client());
            }
            case CLOSE_SESSION -> closeSession(header, in);
            case MULTI -> multi(header, in);
            default -> one(header.type(), header, in);
        }
        long start = in.offset();
        int left = in.bytesLeft(DIGEST + 1);
        if (left != 0 && left != DIGEST) {
            throw in.refused(start, "a transaction of type " + header.type() + " is longer than is understood");
        }
        if (left == DIGEST) {
            digest(in.readInt("digest's version"), in);
        }
        return digest;
    }

    private void digest(int version, JuteFile in) throws IOException {
        long value = in.readLong("digest");
        digest = version == ForeignDigest.VERSION ? OptionalLong.of(value) : OptionalLong.empty();
    }

    /** A transaction of a single change, or a part of one. */
    private void one(int type, Header header, JuteFile in) throws IOException {
        long start = in.offset();
        switch (type) {
            case CREATE, CREATE2 -> create(header, in);
            case CREATE_CONTAINER -> createContainer(header, in);
            case CREATE_TTL -> createWithTtl(header, in);
            case DELETE, DELETE_CONTAINER -> tree.delete(path(in), header.zxid());
            case SET_DATA, RECONFIG -> {
                String path = path(in);
                byte[] data = in.readBuffer("data");
                tree.setData(path, data, in.readInt("version"), header.zxid(), header.timeMs());
            }
            case SET_ACL -> {
                String path = path(in);
                ZnodeAcl acl = in.readAcl();
                tree.setAcl(path, acl, in.readInt("version"));
            }
            case CHECK -> {
                path(in);
                in.readInt("version");
            }
            case ERROR -> in.readInt("error");
            default -> throw in.refused(start, "a transaction of type " + type + ", which is not understood");
        }
    }

    private static String path(JuteFile in) throws IOException {
        long start = in.offset();
        String path = in.readString("path");
        if (!path.startsWith("/")) {
            throw in.refused(start, "\"" + path + "\" is no path");
        }
        return path;
    }

    private void create(Header header, JuteFile in) throws IOException {
        String path = path(in);
        byte[] data = in.readBuffer("data");
        ZnodeAcl acl = in.readAcl();
        long owner = in.readBoolean("ephemeral") ? header.client() : 0;
        tree.create(path, data, acl, owner, in.readInt("parent's cversion"), header.zxid(), header.timeMs());
    }

    private void createContainer(Header header, JuteFile in) throws IOException {
        String path = path(in);
        byte[] data = in.readBuffer("data");
        ZnodeAcl acl = in.readAcl();
        int cversion = in.readInt("parent's cversion");
        tree.create(path, data, acl, CONTAINER_OWNER, cversion, header.zxid(), header.timeMs());
    }

    private void createWithTtl(Header header, JuteFile in) throws IOException {
        String path = path(in);
        byte[] data = in.readBuffer("data");
        ZnodeAcl acl = in.readAcl();
        int cversion = in.readInt("parent's cversion");
        long start = in.offset();
        long ttlMs = in.readLong("time to live");
        if (ttlMs <= 0 || ttlMs >= 1L << 40) {
            throw in.refused(start, "a time to live of " + ttlMs + " ms");
        }
        tree.create(path, data, acl, TTL_OWNER | ttlMs, cversion, header.zxid(), header.timeMs());
    }

    /** Since 3.6 the paths of the ephemerals are named; a digest may follow in either case. */
    private void closeSession(Header header, JuteFile in) throws IOException {
        List<String> named = new ArrayList<>();
        if (in.bytesLeft(MAX_PARTS) > 0) {
            int count = in.readInt("number of ephemerals");
            if (count == ForeignDigest.VERSION && in.bytesLeft(MAX_PARTS) == Long.BYTES) {
                digest(count, in);
            } else {
                for (int i = 0; i < count; i++) {
                    named.add(path(in));
                }
            }
        }
        tree.closeSession(header.client(), named, header.zxid());
    }

    /** If one part failed, the others are there as errors, too, and nothing was done. */
    private void multi(Header header, JuteFile in) throws IOException {
        int count = in.readCount("number of parts", MAX_PARTS);
        List<Part> parts = new ArrayList<>();
        boolean failed = false;
        for (int i = 0; i < count; i++) {
            int type = in.readInt("type of a part");
            long start = in.offset() + Integer.BYTES;
            byte[] content = in.readBuffer("a part");
            parts.add(new Part(type, start, content == null ? new byte[0] : content));
            failed |= type == ERROR;
        }
        for (Part part : failed ? List.<Part>of() : parts) {
            JuteFile of = in.part(part.start(), part.content());
            one(part.type(), header, of);
            if (of.bytesLeft(1) != 0) {
                throw of.refused("a part of type " + part.type() + " is longer than is understood");
            }
        }
    }

    private record Part(int type, long start, byte[] content) {}
}
