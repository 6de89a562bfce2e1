package io.conclave.config;

import io.conclave.cache.CachedNode;
import io.conclave.coordinator.Coordinator;
import io.conclave.mirror.Mirror;
import io.conclave.mirror.MirrorScope;
import io.conclave.node.NodePath;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A copy of a znode's children with their data, kept up to date until it is closed. The znode need not exist. A state
 * is one that the tree had: a transaction is seen whole or not at all.
 *
 * <p>It costs one persistent recursive watch, one event for each change, and one read for each child that is new or
 * changed; loading costs one list and one read a child. Events of what is below the children come as well and are
 * passed over. On servers without persistent watches it costs a one-shot watch a child, and a list for each child that
 * comes or goes. After a lost connection all is read again. Thread-safe.
 */
public final class ChildrenCache extends TreeCache {
    private final NodePath parent;

    private ChildrenCache(Coordinator coordinator, NodePath parent) {
        super(Mirror.ofTransactions(coordinator, parent, MirrorScope.CHILDREN));
        this.parent = parent;
    }

    /** A cache of the children of the znode at a path; it begins to load at once. Never blocks. */
    public static ChildrenCache at(Coordinator coordinator, String path) {
        return at(coordinator, NodePath.of(path));
    }

    /** As {@link #at(Coordinator, String)}. */
    public static ChildrenCache at(Coordinator coordinator, NodePath path) {
        return new ChildrenCache(coordinator, path);
    }

    /** The child of that name; empty if it is not there, or not loaded yet. Never blocks. */
    public Optional<CachedNode> child(String name) {
        return mirror().get(parent.child(name));
    }

    /** All children by name, copied. Never blocks. */
    public SortedMap<String, CachedNode> children() {
        SortedMap<String, CachedNode> children = new TreeMap<>();
        mirror().state()
                .nodes()
                .values()
                .forEach(node -> children.put(node.path().name(), node));
        return Collections.unmodifiableSortedMap(children);
    }
}
