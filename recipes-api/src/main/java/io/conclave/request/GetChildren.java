package io.conclave.request;

import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Lists the names of a znode's children, in no order. Refused with NO_NODE (then no watch is left), NO_AUTH. The watch
 * fires when a child is created or deleted, or the znode itself deleted.
 *
 * @param path the znode
 * @param watcher set with the read, one-shot: it misses nothing that happens after what this request answers
 */
public record GetChildren(NodePath path, Optional<Watcher> watcher) implements Read<GetChildren.Children> {
    /** Rejects nulls. */
    public GetChildren {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(watcher, "watcher");
    }

    /**
     * A znode's children and stat, read together.
     *
     * @param names the children's names, in no order
     * @param stat the parent's stat
     */
    public record Children(List<String> names, NodeStat stat) {
        /** Copies the names. */
        public Children {
            names = List.copyOf(names);
        }
    }

    /** Without a watch. */
    public static GetChildren of(NodePath path) {
        return new GetChildren(path, Optional.empty());
    }

    /**
     * As {@link #of(NodePath)}.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static GetChildren of(String path) {
        return of(NodePath.of(path));
    }

    /** With a one-shot watch. */
    public GetChildren withWatcher(Watcher newWatcher) {
        return new GetChildren(path, Optional.of(newWatcher));
    }

    @Override
    public GetChildren within(NodePath namespace) {
        return new GetChildren(path.within(namespace), watcher);
    }

    @Override
    public String describe() {
        return "children " + path + (watcher.isPresent() ? " watched" : "");
    }
}
