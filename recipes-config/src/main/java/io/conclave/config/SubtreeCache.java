package io.conclave.config;

import io.conclave.cache.CachedNode;
import io.conclave.cache.MirrorState;
import io.conclave.coordinator.Coordinator;
import io.conclave.mirror.Mirror;
import io.conclave.mirror.MirrorScope;
import io.conclave.node.NodePath;
import java.util.List;
import java.util.Optional;

/**
 * A copy of a znode and all below it, kept up to date until it is closed. The znode need not exist. A state is one that
 * the tree had: a transaction is seen whole or not at all.
 *
 * <p>It costs one persistent recursive watch, one event for each change, and one read for each znode that is new or
 * changed; loading costs one read a znode, and a list for each that has children. On servers without persistent watches
 * it costs two one-shot watches a znode. After a lost connection all is read again. Thread-safe.
 */
public final class SubtreeCache extends TreeCache {
    private SubtreeCache(Coordinator coordinator, NodePath root) {
        super(Mirror.ofTransactions(coordinator, root, MirrorScope.SUBTREE));
    }

    /** A cache of the znode at a path and all below it; it begins to load at once. Never blocks. */
    public static SubtreeCache at(Coordinator coordinator, String path) {
        return at(coordinator, NodePath.of(path));
    }

    /** As {@link #at(Coordinator, String)}. */
    public static SubtreeCache at(Coordinator coordinator, NodePath path) {
        return new SubtreeCache(coordinator, path);
    }

    /**
     * The znode at a path, which begins with the cache's; empty if it is not there, or not loaded yet. Never blocks.
     */
    public Optional<CachedNode> get(String path) {
        return get(NodePath.of(path));
    }

    /** As {@link #get(String)}. */
    public Optional<CachedNode> get(NodePath path) {
        return mirror().get(path);
    }

    /** What is there below a path, copied, in the order of the paths. Never blocks. */
    public List<CachedNode> below(String path) {
        return below(NodePath.of(path));
    }

    /** As {@link #below(String)}. */
    public List<CachedNode> below(NodePath path) {
        return mirror().below(path);
    }

    /** All of it, copied: one state. Never blocks. */
    public MirrorState state() {
        return mirror().state();
    }
}
