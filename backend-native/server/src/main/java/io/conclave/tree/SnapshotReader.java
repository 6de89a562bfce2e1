package io.conclave.tree;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Reads one snapshot; see {@link SnapshotCodec} for the format. What can be counted is counted, not read. */
final class SnapshotReader {
    private final InputStream in;
    private final long mostSessions;
    private final long mostNodes;
    private final long mostBytes;
    private final List<ZnodeAcl> acls = new ArrayList<>();
    private FieldReader chunk = new FieldReader(ByteBuffer.allocate(0));
    private PersistentMap<Long, SessionRecord> sessions = PersistentMap.empty();
    private PersistentSet<String> reaped = PersistentSet.empty();
    private long nodes;
    private long bytes;
    private long ephemerals;
    private AclUses uses = AclUses.NONE;
    private int version;
    private long sum;

    /** How many bytes were read. */
    private long position;

    /** Where the last chunk begins that was looked for. */
    private long chunkStart;

    /**
     * A node whose children are being read. Its path is put together only when it is asked for: in a deep tree the
     * paths of all open nodes would take the square of the depth.
     */
    private static final class OpenNode {
        final @Nullable OpenNode parent;
        final String name;
        final int pathLength;
        final long pathHash;
        final Znode.Fields fields;
        final int expectedChildren;
        PersistentMap<String, Znode> children = PersistentMap.empty();

        OpenNode(@Nullable OpenNode parent, String name, Znode.Fields fields, int expectedChildren) {
            this.parent = parent;
            this.name = name;
            pathLength = (parent == null || parent.pathLength == 1 ? 0 : parent.pathLength) + 1 + name.length();
            pathHash = parent == null ? TreeDigest.path("/") : TreeDigest.child(parent.pathHash, name);
            this.fields = fields;
            this.expectedChildren = expectedChildren;
        }

        String path() {
            List<String> names = new ArrayList<>();
            for (OpenNode node = this; node.parent != null; node = node.parent) {
                names.add(node.name);
            }
            Collections.reverse(names);
            return "/" + String.join("/", names);
        }

        boolean isComplete() {
            return children.size() == expectedChildren;
        }

        Znode node() {
            Znode.Fields f = fields;
            return Znode.of(new Znode.Fields(
                    f.data(),
                    f.acl(),
                    f.czxid(),
                    f.mzxid(),
                    f.pzxid(),
                    f.ctime(),
                    f.mtime(),
                    f.version(),
                    f.creations(),
                    f.aversion(),
                    f.owner(),
                    children));
        }
    }

    SnapshotReader(InputStream in, long mostSessions, long mostNodes, long mostBytes) {
        this.in = in;
        this.mostSessions = mostSessions;
        this.mostNodes = mostNodes;
        this.mostBytes = mostBytes;
    }

    TreeState read() throws IOException {
        try {
            return readAll();
        } catch (TreeFormatException e) {
            throw e.at(chunkStart);
        }
    }

    private TreeState readAll() throws IOException {
        TreeState.Header header = readHeader();
        int sessionCount = chunk.readInt("number of sessions");
        if (sessionCount > mostSessions) {
            throw new TreeFormatException(
                    "the state has " + sessionCount + " sessions, and is said to have " + mostSessions);
        }
        long digest = version == SnapshotCodec.VERSION ? chunk.readLong("digest") : 0;
        for (int i = 0; i < sessionCount; i++) {
            readSession();
        }
        Znode root = readTree();
        if (!chunk.isAtEnd() || hasMoreChunks() || in.read() >= 0) {
            throw new TreeFormatException("a snapshot goes on behind its end");
        }
        sessions.forEach((id, session) -> sum += TreeDigest.session(session));
        TreeState state = new TreeState(
                header, root, sessions, reaped, new TreeState.Totals(nodes, bytes, ephemerals, sum, uses));
        if (version == SnapshotCodec.VERSION && state.digest() != digest) {
            throw new IOException("the state that was read is not the one that was written: its digest is "
                    + Long.toHexString(state.digest()) + " and not " + Long.toHexString(digest));
        }
        return state;
    }

    private TreeState.Header readHeader() throws IOException {
        FieldReader first = record();
        int magic = first.readInt("magic");
        if (magic != SnapshotCodec.MAGIC) {
            throw new TreeFormatException("not a snapshot: it starts with 0x" + Integer.toHexString(magic));
        }
        version = first.readInt("version");
        if (version < SnapshotCodec.VERSION_WITHOUT_DIGEST || version > SnapshotCodec.VERSION) {
            throw new TreeFormatException("a snapshot of format version " + version + ", this server reads "
                    + SnapshotCodec.VERSION_WITHOUT_DIGEST + " to " + SnapshotCodec.VERSION);
        }
        return new TreeState.Header(
                new UUID(first.readLong("cluster id"), first.readLong("cluster id")),
                first.readLong("generation"),
                first.readInt("feature level"),
                first.readLong("term"),
                first.readLong("last zxid"),
                first.readLong("last time"));
    }

    private void readSession() throws IOException {
        FieldReader record = record();
        long id = record.readLong("session id");
        SessionPassword password = SessionPassword.of(record.readRaw(SessionPassword.BYTES, "password"));
        int timeoutMs = record.readInt("timeoutMs");
        long attachment = record.readLong("attachment");
        long suspicion = record.readLong("suspicion");
        if (sessions.containsKey(id)) {
            throw new TreeFormatException("session 0x" + Long.toHexString(id) + " twice");
        }
        sessions = sessions.put(
                id, new SessionRecord(id, password, timeoutMs, attachment, suspicion, PersistentSet.empty()));
    }

    private Znode readTree() throws IOException {
        Deque<OpenNode> open = new ArrayDeque<>();
        open.push(readNode(null));
        while (true) {
            OpenNode top = open.element();
            if (!top.isComplete()) {
                open.push(readNode(top));
                continue;
            }
            open.pop();
            Znode node = top.node();
            sum += TreeDigest.node(top.pathHash, node);
            if (open.isEmpty()) {
                return node;
            }
            OpenNode parent = open.element();
            parent.children = parent.children.put(top.name, node);
        }
    }

    private OpenNode readNode(@Nullable OpenNode parent) throws IOException {
        FieldReader record = record();
        String name = record.readString("name of a node");
        Znode.Fields fields = new Znode.Fields(
                record.readNullableBytes("data"),
                readAcl(record),
                record.readLong("czxid"),
                record.readLong("mzxid"),
                record.readLong("pzxid"),
                record.readLong("ctime"),
                record.readLong("mtime"),
                record.readInt("version"),
                record.readInt("creations"),
                record.readInt("aversion"),
                record.readLong("owner"),
                PersistentMap.empty());
        int children = record.readInt("number of children");
        OpenNode node = new OpenNode(parent, name, fields, children);
        if (children < 0 || !isPlace(parent, name)) {
            throw new TreeFormatException("a node cannot be at " + node.path() + " with " + children + " children");
        }
        count(node);
        return node;
    }

    private static boolean isPlace(@Nullable OpenNode parent, String name) {
        return parent == null
                ? name.isEmpty()
                : !name.isEmpty() && name.indexOf('/') < 0 && !parent.children.containsKey(name);
    }

    private ZnodeAcl readAcl(FieldReader record) {
        int number = record.readInt("number of an ACL");
        if (number == acls.size()) {
            ZnodeAcl acl = record.readAcl();
            acls.add(acl.equals(ZnodeAcl.OPEN) ? ZnodeAcl.OPEN : acl);
        } else if (number < 0 || number > acls.size()) {
            throw new TreeFormatException("ACL number " + number + " where " + acls.size() + " are known");
        }
        return acls.get(number);
    }

    private void count(OpenNode node) {
        long owner = node.fields.owner();
        byte[] data = node.fields.data();
        nodes++;
        uses = uses.with(node.fields.acl());
        bytes += node.pathLength + (data == null ? 0 : data.length);
        if (nodes > mostNodes || bytes > mostBytes) {
            throw new TreeFormatException("the state goes on beyond the " + mostNodes + " znodes and the " + mostBytes
                    + " bytes of paths and data that it is said to have");
        }
        if (Znode.isReaped(owner)) {
            reaped = reaped.with(node.path());
        } else if (owner != 0) {
            ephemerals++;
            SessionRecord session = sessions.get(owner);
            if (session == null) {
                throw new TreeFormatException(
                        node.path() + " belongs to session 0x" + Long.toHexString(owner) + ", which is not there");
            }
            sessions = sessions.put(owner, session.with(session.ephemerals().with(node.path())));
        }
    }

    /** Where the next record starts; records do not cross chunks. */
    private FieldReader record() throws IOException {
        if (chunk.isAtEnd() && !hasMoreChunks()) {
            throw new TreeFormatException("a snapshot ends too early");
        }
        return chunk;
    }

    private boolean hasMoreChunks() throws IOException {
        chunkStart = position;
        int length = readInt();
        if (length == 0) {
            return false;
        }
        if (length < 0 || length > SnapshotCodec.MAX_CHUNK_BYTES) {
            throw new TreeFormatException("a chunk of " + length + " bytes");
        }
        int expected = readInt();
        byte[] content = in.readNBytes(length);
        position += content.length;
        CRC32C checksum = new CRC32C();
        checksum.update(content);
        if (content.length < length || (int) checksum.getValue() != expected) {
            throw new TreeFormatException("a chunk of " + length + " bytes is cut or damaged");
        }
        chunk = new FieldReader(ByteBuffer.wrap(content));
        return true;
    }

    private int readInt() throws IOException {
        byte[] value = in.readNBytes(Integer.BYTES);
        position += value.length;
        if (value.length < Integer.BYTES) {
            throw new TreeFormatException("a snapshot is cut");
        }
        return ByteBuffer.wrap(value).getInt();
    }
}
