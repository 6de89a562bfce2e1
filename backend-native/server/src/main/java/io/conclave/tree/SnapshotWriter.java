package io.conclave.tree;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * Writes one snapshot, in one go or a chunk at a time; see {@link SnapshotCodec} for the format. Looks at the state
 * once more as it goes by, since only that shows damage of this machine's memory.
 */
final class SnapshotWriter {
    private final TreeState state;
    private final OutputStream out;
    private final FieldWriter fields = new FieldWriter(2 * SnapshotCodec.CHUNK_BYTES);
    private final Map<ZnodeAcl, Integer> aclNumbers = new HashMap<>();

    /** Of the objects: most nodes with equal ACLs share one. */
    private final IdentityHashMap<ZnodeAcl, Integer> numbersOfShared = new IdentityHashMap<>();

    private final Iterator<Map.Entry<Long, SessionRecord>> sessions;
    /** A stack of our own because trees may be deep. */
    private final Deque<Open> open = new ArrayDeque<>();

    private boolean begun;
    private boolean rootWritten;
    private long sum;

    /** The children of a node that are still to be written, and the hash of its path. */
    private record Open(Iterator<Map.Entry<String, Znode>> children, long path) {}

    SnapshotWriter(TreeState state, OutputStream out) {
        this.state = state;
        this.out = out;
        this.sessions = state.sessions().iterator();
    }

    /** Writes all of it. */
    void write() throws IOException {
        boolean more = true;
        while (more) {
            more = writeNextChunk();
        }
    }

    /** Writes the next chunk, and the end behind the last one. Returns whether there are more. */
    boolean writeNextChunk() throws IOException {
        if (!begun) {
            begun = true;
            writeHeader();
            return true;
        }
        while (fields.size() < SnapshotCodec.CHUNK_BYTES) {
            if (!writeNextRecord()) {
                writeEnd();
                return false;
            }
        }
        writeChunk();
        return true;
    }

    private void writeEnd() throws IOException {
        if (sum != state.totals().digest()) {
            throw new IOException(
                    "the state in memory is not what its digest says; this server's memory may be damaged");
        }
        writeChunk();
        out.write(new byte[Integer.BYTES]);
        out.flush();
    }

    /** Sessions, then nodes, parents before children. */
    private boolean writeNextRecord() {
        if (sessions.hasNext()) {
            SessionRecord session = sessions.next().getValue();
            writeSession(session);
            sum += TreeDigest.session(session);
            return true;
        }
        if (!rootWritten) {
            rootWritten = true;
            writeAndOpen("", state.root(), TreeDigest.path("/"));
            return true;
        }
        while (!open.isEmpty()) {
            Open parent = open.element();
            if (parent.children.hasNext()) {
                Map.Entry<String, Znode> child = parent.children.next();
                writeAndOpen(child.getKey(), child.getValue(), TreeDigest.child(parent.path, child.getKey()));
                return true;
            }
            open.pop();
        }
        return false;
    }

    private void writeAndOpen(String name, Znode node, long path) {
        writeNode(name, node);
        sum += TreeDigest.node(path, node);
        if (!node.children().isEmpty()) {
            open.push(new Open(node.children().iterator(), path));
        }
    }

    private void writeHeader() throws IOException {
        fields.writeInt(SnapshotCodec.MAGIC);
        boolean withDigest = state.featureLevel() >= SnapshotCodec.DIGEST_FEATURE_LEVEL;
        fields.writeInt(withDigest ? SnapshotCodec.VERSION : SnapshotCodec.VERSION_WITHOUT_DIGEST);
        fields.writeLong(state.clusterId().getMostSignificantBits());
        fields.writeLong(state.clusterId().getLeastSignificantBits());
        fields.writeLong(state.generation());
        fields.writeInt(state.featureLevel());
        fields.writeLong(state.term());
        fields.writeLong(state.lastZxid());
        fields.writeLong(state.lastTimeMs());
        fields.writeInt(state.sessions().size());
        if (withDigest) {
            fields.writeLong(state.digest());
        }
        writeChunk();
    }

    private void writeSession(SessionRecord session) {
        fields.writeLong(session.id());
        fields.writeRaw(session.password().toBytes());
        fields.writeInt(session.timeoutMs());
        fields.writeLong(session.attachment());
        fields.writeLong(session.suspicion());
    }

    private void writeNode(String name, Znode node) {
        fields.writeString(name);
        fields.writeBytes(node.data());
        writeAcl(node.acl());
        fields.writeLong(node.czxid());
        fields.writeLong(node.mzxid());
        fields.writeLong(node.pzxid());
        fields.writeLong(node.ctime());
        fields.writeLong(node.mtime());
        fields.writeInt(node.version());
        fields.writeInt(node.creations());
        fields.writeInt(node.aversion());
        fields.writeLong(node.owner);
        fields.writeInt(node.children().size());
    }

    /** A list that was written before is given by its number, a new one by the next number and itself. */
    private void writeAcl(ZnodeAcl acl) {
        Integer known = numbersOfShared.get(acl);
        if (known == null) {
            sum += TreeDigest.damageOf(acl);
            known = aclNumbers.get(acl);
        }
        if (known != null) {
            numbersOfShared.put(acl, known);
            fields.writeInt(known);
            return;
        }
        fields.writeInt(aclNumbers.size());
        int number = aclNumbers.size();
        aclNumbers.put(acl, number);
        numbersOfShared.put(acl, number);
        fields.writeAcl(acl);
    }

    private void writeChunk() throws IOException {
        int length = fields.size();
        if (length == 0) {
            return;
        }
        CRC32C checksum = new CRC32C();
        checksum.update(fields.array(), 0, length);
        FieldWriter head = new FieldWriter(2 * Integer.BYTES);
        head.writeInt(length);
        head.writeInt((int) checksum.getValue());
        out.write(head.array());
        out.write(fields.array(), 0, length);
        fields.clear();
    }
}
