package io.conclave.request;

import io.conclave.node.Bytes;
import io.conclave.node.HasData;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import java.util.Objects;
import java.util.Optional;

/**
 * Reads a znode's data. Refused with NO_NODE (then no watch is left), NO_AUTH. The watch fires when the data is set or
 * the znode deleted.
 *
 * @param path the znode
 * @param watcher set with the read, one-shot: it misses nothing that happens after what this request answers
 */
public record GetData(NodePath path, Optional<Watcher> watcher) implements Read<GetData.NodeData> {
    /** Rejects nulls. */
    public GetData {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(watcher, "watcher");
    }

    /**
     * A znode's data and stat, read together.
     *
     * @param bytes the data; empty where the znode has none
     * @param stat the stat
     */
    public record NodeData(Bytes bytes, NodeStat stat) implements HasData {
        /** Rejects nulls. */
        public NodeData {
            Objects.requireNonNull(bytes, "bytes");
            Objects.requireNonNull(stat, "stat");
        }

        /** With a copy of this data. */
        public NodeData(byte[] data, NodeStat stat) {
            this(Bytes.copyOf(data), stat);
        }
    }

    /** Without a watch. */
    public static GetData of(NodePath path) {
        return new GetData(path, Optional.empty());
    }

    /**
     * As {@link #of(NodePath)}.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static GetData of(String path) {
        return of(NodePath.of(path));
    }

    /** With a one-shot watch. */
    public GetData withWatcher(Watcher newWatcher) {
        return new GetData(path, Optional.of(newWatcher));
    }

    @Override
    public GetData within(NodePath namespace) {
        return new GetData(path.within(namespace), watcher);
    }

    @Override
    public String describe() {
        return "get " + path + (watcher.isPresent() ? " watched" : "");
    }
}
