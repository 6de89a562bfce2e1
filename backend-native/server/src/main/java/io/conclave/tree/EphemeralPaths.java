package io.conclave.tree;

import java.util.Iterator;
import java.util.function.Consumer;

/**
 * The paths of a session's ephemeral nodes that start with a prefix, in as many steps as the caller likes. They are
 * those of the state with which it began. Not thread-safe.
 */
public final class EphemeralPaths {
    private final Iterator<String> left;
    private final String prefix;

    EphemeralPaths(PersistentSet<String> paths, String prefix) {
        this.left = paths.iterator();
        String wanted = prefix.trim();
        this.prefix = wanted.isEmpty() || wanted.equals("/") ? "" : prefix;
    }

    /**
     * Goes on.
     *
     * @param most how many paths to look at, at most
     * @param action takes those with the prefix
     * @return whether all were looked at
     */
    public boolean advance(int most, Consumer<String> action) {
        for (int seen = 0; seen < most && left.hasNext(); seen++) {
            String path = left.next();
            if (path.startsWith(prefix)) {
                action.accept(path);
            }
        }
        return !left.hasNext();
    }
}
