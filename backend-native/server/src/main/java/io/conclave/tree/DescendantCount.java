package io.conclave.tree;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;

/**
 * Counts the nodes below a node, in as many steps as the caller likes: a large tree takes long, and an event loop has
 * others to serve. The count is that of the state with which it began. Not thread-safe.
 */
public final class DescendantCount {
    /** On the way down; each has more to come, or is at its end. */
    private final Deque<Iterator<Map.Entry<String, Znode>>> open = new ArrayDeque<>();

    private int count;

    DescendantCount(Znode top) {
        open.push(top.children().iterator());
    }

    /**
     * Goes on.
     *
     * @param nodes how many to visit at most
     * @return whether all are counted
     */
    public boolean advance(int nodes) {
        for (int left = nodes; left > 0 && !open.isEmpty(); left--) {
            Iterator<Map.Entry<String, Znode>> top = open.element();
            if (!top.hasNext()) {
                open.pop();
                continue;
            }
            count++;
            PersistentMap<String, Znode> children = top.next().getValue().children();
            if (!children.isEmpty()) {
                open.push(children.iterator());
            }
        }
        return open.isEmpty();
    }

    /** How many have been counted. */
    public int count() {
        return count;
    }
}
