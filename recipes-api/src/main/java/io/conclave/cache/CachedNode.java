package io.conclave.cache;

import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import java.util.Objects;

/**
 * A znode as a mirror last saw it.
 *
 * @param path where it is, in the coordinator's namespace
 * @param data its data; not copied, so it must not be changed
 * @param stat its stat when the data was read; what it says of children is not kept up to date
 */
public record CachedNode(NodePath path, byte[] data, NodeStat stat) {
    /** Rejects nulls. */
    public CachedNode {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(data, "data");
        Objects.requireNonNull(stat, "stat");
    }

    /** Whether it is the same znode, neither created again nor written in between. */
    boolean isUnchangedSince(CachedNode other) {
        return stat.czxid() == other.stat.czxid() && stat.mzxid() == other.stat.mzxid();
    }

    /** Path, version and size; never the data. */
    @Override
    public String toString() {
        return path + " (version " + stat.version() + ", " + data.length + " bytes)";
    }
}
