package io.conclave.membership;

import io.conclave.node.NodePath;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who may have the znode of a path: one at a time, in the order in which they came. So a znode of ours that is found
 * after a lost reply is that of the one whose turn it is. Memberships have one for each session, kept znodes one for
 * each coordinator. Thread-safe.
 */
final class PathQueue {
    private final Map<NodePath, Deque<Claimant>> queues = new HashMap<>(); // @GuardedBy("this")

    /** Waits for its turn. */
    interface Claimant {
        /** Its turn has come, because the one before has released the path; on that one's thread. */
        void onClaimed();

        /** Whether it releases the path as soon as the store has answered. */
        default boolean isLeaving() {
            return false;
        }
    }

    /** Whether its turn is now; else it is told when it comes. */
    synchronized boolean claim(NodePath path, Claimant claimant) {
        Deque<Claimant> queue = queues.computeIfAbsent(path, first -> new ArrayDeque<>());
        queue.add(claimant);
        return queue.peek() == claimant;
    }

    /** Whether one that came before this one does not leave. */
    synchronized boolean mustWait(NodePath path, Claimant claimant) {
        return queues.getOrDefault(path, new ArrayDeque<>()).stream()
                .takeWhile(one -> one != claimant)
                .anyMatch(one -> !one.isLeaving());
    }

    /** It is over, or does not want to begin any more. Idempotent. */
    void release(NodePath path, Claimant claimant) {
        Claimant next = remove(path, claimant);
        if (next != null) {
            next.onClaimed();
        }
    }

    private synchronized @Nullable Claimant remove(NodePath path, Claimant claimant) {
        Deque<Claimant> queue = queues.get(path);
        if (queue == null) {
            return null;
        }
        boolean wasFirst = queue.peek() == claimant;
        queue.remove(claimant);
        if (queue.isEmpty()) {
            queues.remove(path);
            return null;
        }
        return wasFirst ? queue.peek() : null;
    }
}
