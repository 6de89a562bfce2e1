package io.conclave.tree;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.zip.CRC32C;

/** Writes one snapshot; see {@link SnapshotCodec} for the format. */
final class SnapshotWriter {
    private final OutputStream out;
    private final FieldWriter fields = new FieldWriter(2 * SnapshotCodec.CHUNK_BYTES);
    private final Map<ZnodeAcl, Integer> aclNumbers = new HashMap<>();
    private long sum;

    /** The children of a node that are still to be written, and the hash of its path. */
    private record Open(Iterator<Map.Entry<String, Znode>> children, long path) {}

    SnapshotWriter(OutputStream out) {
        this.out = out;
    }

    /** Looks at the state once more as it goes by, since only that shows damage of this machine's memory. */
    void write(TreeState state) throws IOException {
        writeHeader(state);
        for (Map.Entry<Long, SessionRecord> entry : state.sessions()) {
            writeSession(entry.getValue());
            sum += TreeDigest.session(entry.getValue());
            writeChunkIfFull();
        }
        writeTree(state.root());
        if (sum != state.totals().digest()) {
            throw new IOException(
                    "the state in memory is not what its digest says; this server's memory may be damaged");
        }
        writeChunk();
        out.write(new byte[Integer.BYTES]);
        out.flush();
    }

    private void writeHeader(TreeState state) throws IOException {
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

    /** Parents before children, with a stack of our own because trees may be deep. */
    private void writeTree(Znode root) throws IOException {
        writeNode("", root);
        long rootPath = TreeDigest.path("/");
        sum += TreeDigest.node(rootPath, root);
        Deque<Open> open = new ArrayDeque<>();
        open.push(new Open(root.children().iterator(), rootPath));
        while (!open.isEmpty()) {
            Open parent = open.element();
            if (!parent.children.hasNext()) {
                open.pop();
                continue;
            }
            Map.Entry<String, Znode> child = parent.children.next();
            long path = TreeDigest.child(parent.path, child.getKey());
            writeNode(child.getKey(), child.getValue());
            sum += TreeDigest.node(path, child.getValue());
            writeChunkIfFull();
            if (!child.getValue().children().isEmpty()) {
                open.push(new Open(child.getValue().children().iterator(), path));
            }
        }
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
        Integer known = aclNumbers.get(acl);
        if (known != null) {
            fields.writeInt(known);
            return;
        }
        fields.writeInt(aclNumbers.size());
        aclNumbers.put(acl, aclNumbers.size());
        fields.writeAcl(acl);
    }

    private void writeChunkIfFull() throws IOException {
        if (fields.size() >= SnapshotCodec.CHUNK_BYTES) {
            writeChunk();
        }
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
