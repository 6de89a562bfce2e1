package io.conclave.tree;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Takes many childless nodes out of a tree at once: each node on the way to them is copied once, however many go below
 * it. Works without recursion, because the depth of a tree is bounded by what clients send and not by our stack.
 */
final class BulkRemoval {
    /** Called with each removed node; in an order that all members find. */
    interface Listener {
        void removed(String path, Znode node, Parent from);

        /** Behind those that have gone from it. */
        void changed(Parent parent, Znode after);
    }

    /** A node that changes because something below it goes. */
    static final class Parent {
        private final @Nullable Parent above;
        private final String name;
        private final Znode before;
        private final String path;
        private final BulkEdit<String, Znode, String> children;
        private @Nullable Map<String, Parent> below;
        private boolean losesChildren;

        private Parent(@Nullable Parent above, String name, Znode before, String path, Listener listener) {
            this.children = new BulkEdit<>((removed, node) -> listener.removed(removed, node, this));
            this.above = above;
            this.name = name;
            this.before = before;
            this.path = path;
        }

        /** The node before the removal. */
        Znode node() {
            return before;
        }

        /** Its path for the eyes of clients. */
        String path() {
            return path;
        }

        private @Nullable Parent known(String child) {
            return below == null ? null : below.get(child);
        }

        private void know(Parent child) {
            if (below == null) {
                below = new HashMap<>(2);
            }
            below.put(child.name, child);
        }

        private Znode after(long zxid, Listener listener) {
            Znode after = before.withChildren(children, losesChildren ? zxid : before.pzxid());
            listener.changed(this, after);
            return after;
        }
    }

    private final Listener listener;
    private final Parent root;

    /** By path, without the root's slash. */
    private final Map<String, Parent> byPath = new HashMap<>();

    /** Most sessions have all they own in one place. */
    private Parent last;

    /** A node that is above another one comes before it. */
    private final List<Parent> topDown = new ArrayList<>();

    BulkRemoval(Znode root, Listener listener) {
        this.listener = listener;
        this.root = new Parent(null, "", root, "/", listener);
        topDown.add(this.root);
        byPath.put("", this.root);
        last = this.root;
    }

    /** Has a node go, which must be there. */
    void remove(String path) {
        int slash = path.lastIndexOf('/');
        if (slash != last.path.length() || !path.startsWith(last.path)) {
            last = byPath.computeIfAbsent(path.substring(0, slash), this::walkTo);
        }
        last.losesChildren = true;
        last.children.remove(path.substring(slash + 1), path);
    }

    private Parent walkTo(String path) {
        Parent parent = root;
        int start = 1;
        while (start <= path.length()) {
            int slash = path.indexOf('/', start);
            int end = slash < 0 ? path.length() : slash;
            String name = path.substring(start, end);
            Parent next = parent.known(name);
            if (next == null) {
                next = new Parent(parent, name, child(parent, name), path.substring(0, end), listener);
                parent.know(next);
                topDown.add(next);
            }
            parent = next;
            start = end + 1;
        }
        return parent;
    }

    private static Znode child(Parent parent, String name) {
        Znode child = parent.before.children().get(name);
        if (child == null) {
            throw new IllegalStateException("there is no " + name + " below " + parent.path);
        }
        return child;
    }

    /** The root of the tree in which all of them have gone. To be called once. */
    Znode rootAfter(long zxid) {
        for (int i = topDown.size() - 1; i > 0; i--) {
            Parent parent = topDown.get(i);
            if (parent.above != null) {
                parent.above.children.replace(parent.name, parent.after(zxid, listener));
            }
        }
        return root.after(zxid, listener);
    }
}
