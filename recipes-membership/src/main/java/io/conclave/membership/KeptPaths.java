package io.conclave.membership;

import io.conclave.node.NodePath;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which znodes a coordinator keeps: each path once at a time, in the order of the calls. So one that is kept deletes
 * nothing that another one keeps. Thread-safe.
 */
final class KeptPaths {
    private final Map<NodePath, Deque<NodeKeeping>> queues = new HashMap<>(); // @GuardedBy("this")

    /** Whether it may begin now; else it is told when its turn comes. */
    synchronized boolean claim(NodePath path, NodeKeeping keeping) {
        Deque<NodeKeeping> queue = queues.computeIfAbsent(path, first -> new ArrayDeque<>());
        queue.add(keeping);
        return queue.peek() == keeping;
    }

    /** It is over, or does not want to begin any more. Idempotent. */
    void release(NodePath path, NodeKeeping keeping) {
        NodeKeeping next = remove(path, keeping);
        if (next != null) {
            next.onClaimed();
        }
    }

    private synchronized @Nullable NodeKeeping remove(NodePath path, NodeKeeping keeping) {
        Deque<NodeKeeping> queue = queues.get(path);
        if (queue == null) {
            return null;
        }
        boolean wasFirst = queue.peek() == keeping;
        queue.remove(keeping);
        if (queue.isEmpty()) {
            queues.remove(path);
            return null;
        }
        return wasFirst ? queue.peek() : null;
    }
}
