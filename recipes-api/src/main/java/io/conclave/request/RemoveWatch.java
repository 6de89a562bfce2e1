package io.conclave.request;

import io.conclave.node.NodePath;
import java.util.Objects;

/**
 * Removes a watcher from a path, one-shot or persistent. Refused with NO_WATCHER if it is not set there.
 *
 * @param path the znode
 * @param watcher equal to the one that was set (the same object, unless its class says otherwise)
 */
public record RemoveWatch(NodePath path, Watcher watcher) implements Request<Done> {
    /** Rejects nulls. */
    public RemoveWatch {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(watcher, "watcher");
    }

    @Override
    public RemoveWatch within(NodePath namespace) {
        return new RemoveWatch(path.within(namespace), watcher);
    }

    @Override
    public boolean isRead() {
        return true;
    }

    @Override
    public String describe() {
        return "remove watch " + path;
    }
}
