package io.conclave.request;

import io.conclave.node.Bytes;
import io.conclave.node.HasData;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import java.util.Objects;

/**
 * Sets a znode's data. Refused with NO_NODE, BAD_VERSION, NO_AUTH.
 *
 * @param path the znode
 * @param bytes the data
 * @param version the expected data version; -1 for any
 */
public record SetData(NodePath path, Bytes bytes, int version) implements Operation<NodeStat>, HasData {
    /** Rejects nulls. */
    public SetData {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(bytes, "bytes");
    }

    /** With a copy of this data. */
    public SetData(NodePath path, byte[] data, int version) {
        this(path, Bytes.copyOf(data), version);
    }

    /** Sets the data, of which it takes a copy, whatever version is there. */
    public static SetData of(NodePath path, byte[] data) {
        return new SetData(path, data, -1);
    }

    /**
     * As {@link #of(NodePath, byte[])}.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static SetData of(String path, byte[] data) {
        return of(NodePath.of(path), data);
    }

    /** Only if the data has this version. */
    public SetData withVersion(int expected) {
        return new SetData(path, bytes, expected);
    }

    @Override
    public SetData within(NodePath namespace) {
        return new SetData(path.within(namespace), bytes, version);
    }

    @Override
    public String describe() {
        return "set " + path + (version < 0 ? "" : " version " + version);
    }
}
