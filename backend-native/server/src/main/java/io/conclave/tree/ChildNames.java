package io.conclave.tree;

import java.util.Iterator;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The names of a node's children, in as many steps as the caller likes: a node can have very many of them, and an event
 * loop has others to serve. They are those of the state with which it began. Not thread-safe.
 */
public final class ChildNames {
    private final Znode node;
    private final Iterator<Map.Entry<String, Znode>> left;

    ChildNames(Znode node) {
        this.node = node;
        this.left = node.children().iterator();
    }

    /** How many there are. */
    public int count() {
        return node.children().size();
    }

    /** The Stat of the node. */
    public ZnodeStat stat() {
        return node.stat();
    }

    /**
     * Goes on.
     *
     * @param most how many names to give at most
     * @return whether all were given
     */
    public boolean advance(int most, Consumer<String> action) {
        for (int given = 0; given < most && left.hasNext(); given++) {
            action.accept(left.next().getKey());
        }
        return !left.hasNext();
    }
}
