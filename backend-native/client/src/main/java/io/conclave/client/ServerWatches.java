package io.conclave.client;

import io.conclave.node.NodePath;
import io.conclave.protocol.WatchMode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The persistent watches that the server has for the present connection. Owned by the session's event loop.
 *
 * <p>Up to 3.8, Apache ZooKeeper has one watch mode for a path of a connection, and the latest one wins. So a path gets
 * a recursive watch as soon as any watcher needs one, and keeps it. A recursive watch reports everything except changes
 * of lists of children, which follow from the creation and deletion of children. A watch without a use stays until the
 * last watcher of its path is removed or the connection ends.
 */
final class ServerWatches {
    private final Map<NodePath, WatchMode> sent = new HashMap<>();
    private final Set<NodePath> recursive = new HashSet<>();

    /**
     * A persistent watch is sent next.
     *
     * @param mode what is asked for
     * @return what the server must be asked for, so that it takes nothing away
     */
    WatchMode send(NodePath path, WatchMode mode) {
        return sent.merge(path, mode, (before, next) -> before == WatchMode.PERSISTENT_RECURSIVE ? before : next);
    }

    /** The server has set what was sent. */
    void set(NodePath path) {
        if (sent.get(path) == WatchMode.PERSISTENT_RECURSIVE) {
            recursive.add(path);
        }
    }

    /** Whether a watch already reports the path, or will once the requests under way are answered. */
    boolean isAny(NodePath path) {
        return sent.containsKey(path);
    }

    /** Whether the server reports the creation and deletion of all children of a path. */
    boolean isRecursive(NodePath path) {
        return recursive.contains(path);
    }

    /** The server has no watch on the path. */
    void forget(NodePath path) {
        sent.remove(path);
        recursive.remove(path);
    }

    /** A new connection sets these watches, and no others. */
    void resume(Set<NodePath> plain, Set<NodePath> all) {
        sent.clear();
        recursive.clear();
        plain.forEach(path -> send(path, WatchMode.PERSISTENT));
        all.forEach(path -> {
            send(path, WatchMode.PERSISTENT_RECURSIVE);
            set(path);
        });
    }
}
