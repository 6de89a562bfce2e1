package io.conclave.membership;

import io.conclave.node.NodePath;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Which of the stays of one session may create the znode of a path: one at a time, in the order in which they came. So a znode that belongs to this session, found after a lost reply, is the stay's that asked. State belongs to the
 * session's dispatcher.
 */
final class Claims {
    private final Map<NodePath, Deque<Stay>> queues = new HashMap<>();

    /** Has the stay begin when its turn comes: at once if it is the first. */
    void claim(NodePath path, Stay stay) {
        Deque<Stay> queue = queues.computeIfAbsent(path, first -> new ArrayDeque<>());
        queue.add(stay);
        if (queue.peek() == stay) {
            stay.onClaimed();
        } else {
            stay.onQueued();
        }
    }

    /** The stay is over, or does not want to begin any more. Idempotent. */
    void release(NodePath path, Stay stay) {
        Deque<Stay> queue = queues.get(path);
        if (queue == null) {
            return;
        }
        boolean wasFirst = queue.peek() == stay;
        queue.remove(stay);
        Stay next = queue.peek();
        if (next == null) {
            queues.remove(path);
        } else if (wasFirst) {
            next.onClaimed();
        }
    }
}
