package io.conclave.config;

import io.conclave.cache.CachedNode;
import io.conclave.coordinator.Coordinator;
import io.conclave.mirror.Mirror;
import io.conclave.mirror.MirrorScope;
import io.conclave.node.NodePath;
import java.util.Optional;

/**
 * A copy of one znode, kept up to date until it is closed. The znode need not exist.
 *
 * <p>It costs one persistent watch (one-shot watches where the server lacks them), and one event and one read for each
 * change. While the connection is away the last state stands; then it is read again. Thread-safe.
 */
public final class NodeCache extends TreeCache {
    private final NodePath path;

    private NodeCache(Coordinator coordinator, NodePath path) {
        super(Mirror.of(coordinator, path, MirrorScope.NODE));
        this.path = path;
    }

    /** A cache of the znode at a path; it begins to load at once. Never blocks. */
    public static NodeCache at(Coordinator coordinator, String path) {
        return at(coordinator, NodePath.of(path));
    }

    /** As {@link #at(Coordinator, String)}. */
    public static NodeCache at(Coordinator coordinator, NodePath path) {
        return new NodeCache(coordinator, path);
    }

    /** The znode; empty if it is not there, or not loaded yet. Never blocks. */
    public Optional<CachedNode> node() {
        return mirror().get(path);
    }
}
