package io.conclave.cache;

import io.conclave.node.Bytes;
import io.conclave.node.HasData;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import java.util.Objects;

/**
 * A znode as a mirror last saw it.
 *
 * @param path where it is, in the coordinator's namespace
 * @param bytes its data
 * @param stat its stat when the data was read; what it says of children is not kept up to date
 */
public record CachedNode(NodePath path, Bytes bytes, NodeStat stat) implements HasData {
    /** Rejects nulls. */
    public CachedNode {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(bytes, "bytes");
        Objects.requireNonNull(stat, "stat");
    }

    /** With a copy of this data. */
    public CachedNode(NodePath path, byte[] data, NodeStat stat) {
        this(path, Bytes.copyOf(data), stat);
    }

    /** Path, version and size; never the data. */
    @Override
    public String toString() {
        return path + " (version " + stat.version() + ", " + bytes + ")";
    }
}
