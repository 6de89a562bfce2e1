package io.conclave.importing;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * The digest of a tree that ZooKeeper 3.6 and later write behind each transaction: the sum of a CRC-32 of each znode's
 * path, data and stored Stat. It does not tell of ACLs, nor of what is below {@code /zookeeper}.
 */
final class ForeignDigest {
    /** How it is made; 3.6 to 3.9 have no other. */
    static final int VERSION = 2;

    private static final String NOT_COUNTED = "/zookeeper/";
    private static final int STAT_BYTES = 6 * Long.BYTES + 3 * Integer.BYTES;

    private ForeignDigest() {}

    static long of(Map<String, ReplayedTree.Node> nodes) {
        long sum = 0;
        for (Map.Entry<String, ReplayedTree.Node> entry : nodes.entrySet()) {
            String path = entry.getKey();
            if (!path.startsWith(NOT_COUNTED)) {
                sum += of(path.equals(ReplayedTree.ROOT) ? "" : path, entry.getValue());
            }
        }
        return sum;
    }

    private static long of(String path, ReplayedTree.Node node) {
        CRC32 checksum = new CRC32();
        checksum.update(path.getBytes(StandardCharsets.UTF_8));
        if (node.data != null) {
            checksum.update(node.data);
        }
        checksum.update(ByteBuffer.allocate(STAT_BYTES)
                .putLong(node.czxid)
                .putLong(node.mzxid)
                .putLong(node.pzxid)
                .putLong(node.ctime)
                .putLong(node.mtime)
                .putInt(node.version)
                .putInt(node.cversion)
                .putInt(node.aversion)
                .putLong(node.owner)
                .array());
        return checksum.getValue();
    }
}
