package io.conclave.tree;

import org.jspecify.annotations.Nullable;

/**
 * The way from the root to a path: the nodes that have to be copied when the last of them changes. It is walked with
 * loops, because the depth of a tree is bounded by what clients send and not by our stack.
 */
final class Trail {
    /** The nodes found, from the root on. */
    private final @Nullable Znode[] nodes;

    /** The names that led to them: names[i] leads from nodes[i] to nodes[i + 1]. */
    private final String[] names;

    /** How many steps could be taken. */
    private final int found;

    private Trail(@Nullable Znode[] nodes, String[] names, int found) {
        this.nodes = nodes;
        this.names = names;
        this.found = found;
    }

    /**
     * A path that does not start with a slash leads nowhere, and must not be taken for its part behind the first one.
     */
    static Trail of(Znode root, String path) {
        String[] names = namesOf(path);
        @Nullable Znode[] nodes = new Znode[names.length + 1];
        nodes[0] = root;
        int found = 0;
        Znode node = root;
        while (found < names.length && path.charAt(0) == '/') {
            node = node.children().get(names[found]);
            if (node == null) {
                break;
            }
            nodes[++found] = node;
        }
        return new Trail(nodes, names, found);
    }

    /** The node at a path, or null. An empty name, as in {@code //a}, is never found. */
    static @Nullable Znode find(Znode root, String path) {
        if (path.length() <= 1) {
            return path.isEmpty() || path.equals("/") ? root : null;
        }
        if (path.charAt(0) != '/') {
            return null;
        }
        Znode node = root;
        int start = 1;
        while (node != null && start <= path.length()) {
            int slash = path.indexOf('/', start);
            int end = slash < 0 ? path.length() : slash;
            node = node.children().get(path.substring(start, end));
            start = end + 1;
        }
        return node;
    }

    private static String[] namesOf(String path) {
        if (path.isEmpty() || path.equals("/")) {
            return new String[0];
        }
        if (path.charAt(0) != '/') {
            return new String[] {path};
        }
        int count = 0;
        for (int i = path.indexOf('/'); i >= 0; i = path.indexOf('/', i + 1)) {
            count++;
        }
        String[] names = new String[count];
        int start = path.indexOf('/') + 1;
        for (int i = 0; i < count; i++) {
            int slash = path.indexOf('/', start);
            int end = slash < 0 ? path.length() : slash;
            names[i] = path.substring(start, end);
            start = end + 1;
        }
        return names;
    }

    /** The node at the end; NO_NODE if it is not there. */
    Znode node() {
        return nodeAt(names.length);
    }

    /** The node before the last; NO_NODE if it is not there. */
    Znode parent() {
        return nodeAt(names.length - 1);
    }

    /** The last name. */
    String name() {
        return names[names.length - 1];
    }

    private Znode nodeAt(int depth) {
        Znode node = depth <= found ? nodes[depth] : null;
        if (node == null) {
            throw TreeException.of(TreeError.NO_NODE);
        }
        return node;
    }

    /** The root of the tree in which the node at the end is this one. */
    Znode rootWith(Znode node) {
        return rootWith(names.length, node);
    }

    /** The root of the tree in which the node before the last is this one. */
    Znode rootWithParent(Znode parent) {
        return rootWith(names.length - 1, parent);
    }

    private Znode rootWith(int depth, Znode changed) {
        Znode node = changed;
        for (int i = depth - 1; i >= 0; i--) {
            node = nodeAt(i).withReplacedChild(names[i], node);
        }
        return node;
    }
}
