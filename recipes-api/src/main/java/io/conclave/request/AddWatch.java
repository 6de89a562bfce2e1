package io.conclave.request;

import io.conclave.node.NodePath;
import java.util.Objects;

/**
 * Sets a watch that stays until it is removed or the session ends. Needs {@code Capability.PERSISTENT_WATCHES}. While
 * the connection is away events are missed: after SUSPENDED a user of this watch must read again.
 *
 * @param path the znode, which need not exist
 * @param recursive whether all descendants are watched as well; a recursive watch reports no CHILDREN_CHANGED
 * @param watcher receives the events
 */
public record AddWatch(NodePath path, boolean recursive, Watcher watcher) implements Request<Done> {
    /** Rejects nulls. */
    public AddWatch {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(watcher, "watcher");
    }

    @Override
    public AddWatch within(NodePath namespace) {
        return new AddWatch(path.within(namespace), recursive, watcher);
    }

    @Override
    public boolean isRead() {
        return true;
    }

    @Override
    public String describe() {
        return "add " + (recursive ? "recursive " : "") + "watch " + path;
    }
}
