package io.conclave.membership;

import io.conclave.node.NodePath;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Which of the memberships of one session may create the znode of a path: one at a time, in the order in which they
 * came. So a znode that belongs to this session, found after a lost reply, is the membership's that asked. State
 * belongs to the session's dispatcher.
 */
final class PathQueue {
    private final Map<NodePath, Deque<SessionMembership>> queues = new HashMap<>();

    /** Has the membership begin when its turn comes: at once if it is the first. */
    void claim(NodePath path, SessionMembership membership) {
        Deque<SessionMembership> queue = queues.computeIfAbsent(path, first -> new ArrayDeque<>());
        queue.add(membership);
        if (queue.peek() == membership) {
            membership.onClaimed();
        } else {
            membership.onQueued();
        }
    }

    /** The membership is over, or does not want to begin any more. Idempotent. */
    void release(NodePath path, SessionMembership membership) {
        Deque<SessionMembership> queue = queues.get(path);
        if (queue == null) {
            return;
        }
        boolean wasFirst = queue.peek() == membership;
        queue.remove(membership);
        SessionMembership next = queue.peek();
        if (next == null) {
            queues.remove(path);
        } else if (wasFirst) {
            next.onClaimed();
        }
    }
}
