package io.conclave.request;

import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import java.util.Objects;
import java.util.Optional;

/**
 * Asks whether a znode is there. The watch is set whether it is or not, and fires when it is created, deleted or its
 * data set.
 *
 * @param path the znode
 * @param watcher set with the read, one-shot: it misses nothing that happens after what this request answers
 */
public record Exists(NodePath path, Optional<Watcher> watcher) implements Read<Optional<NodeStat>> {
    /** Rejects nulls. */
    public Exists {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(watcher, "watcher");
    }

    /** Without a watch. */
    public static Exists of(NodePath path) {
        return new Exists(path, Optional.empty());
    }

    /**
     * As {@link #of(NodePath)}.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static Exists of(String path) {
        return of(NodePath.of(path));
    }

    /** With a one-shot watch. */
    public Exists withWatcher(Watcher newWatcher) {
        return new Exists(path, Optional.of(newWatcher));
    }

    @Override
    public Exists within(NodePath namespace) {
        return new Exists(path.within(namespace), watcher);
    }

    @Override
    public String describe() {
        return "exists " + path + (watcher.isPresent() ? " watched" : "");
    }
}
