package io.conclave.testkit.memory;

import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.request.Watcher;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The watches of one session. A watch that has fired stays in the table until its event has reached the session; if the
 * connection goes before that, the next connection compares the tree with what the session has seen, as ZooKeeper's
 * setWatches does. Guarded by the store's lock.
 */
final class MemoryWatches {
    /** What a watch looks at. */
    enum Kind {
        /** Set by a read of a znode that is there. */
        DATA,
        /** Set by a look for a znode that is not there. */
        ABSENCE,
        /** Set by a list of children. */
        CHILDREN,
        /** Stays. */
        PERSISTENT,
        /** Stays, and sees all descendants. */
        RECURSIVE;

        boolean isOneShot() {
            return this != PERSISTENT && this != RECURSIVE;
        }

        boolean sees(NodeEvent.Type type) {
            return switch (type) {
                case CREATED -> this == ABSENCE || !isOneShot();
                case DELETED -> true;
                case DATA_CHANGED -> this != CHILDREN;
                case CHILDREN_CHANGED -> this == CHILDREN || this == PERSISTENT;
                case WATCH_REMOVED -> false;
            };
        }
    }

    /** One watcher on one path. */
    static final class Watch {
        final NodePath path;
        final Kind kind;
        final Watcher watcher;
        /** Whether the reply that set it has reached the session. */
        boolean confirmed;
        /** Whether its one event is under way. */
        boolean fired;

        Watch(NodePath path, Kind kind, Watcher watcher) {
            this.path = path;
            this.kind = kind;
            this.watcher = watcher;
        }
    }

    private final Map<NodePath, List<Watch>> watches = new HashMap<>();

    /** Sets a watch, or finds the same one that is set already. */
    Watch add(NodePath path, Kind kind, Watcher watcher) {
        List<Watch> here = watches.computeIfAbsent(path, p -> new ArrayList<>());
        for (Watch watch : here) {
            if (watch.kind == kind && watch.watcher.equals(watcher) && !watch.fired) {
                return watch;
            }
        }
        Watch added = new Watch(path, kind, watcher);
        here.add(added);
        return added;
    }

    /** Whether a watcher was set on the path, whatever kind; it is not any more. */
    boolean remove(NodePath path, Watcher watcher) {
        List<Watch> here = watches.getOrDefault(path, List.of());
        boolean removed = !here.isEmpty() && here.removeIf(watch -> watch.watcher.equals(watcher) && !watch.fired);
        dropIfEmpty(path);
        return removed;
    }

    /** Marks the watches that an event fires, and returns them. */
    List<Watch> fire(NodeEvent event) {
        List<Watch> fired = new ArrayList<>();
        collect(event.path(), event.type(), false, fired);
        @Nullable NodePath ancestor = event.path().parent().orElse(null);
        while (ancestor != null) {
            collect(ancestor, event.type(), true, fired);
            ancestor = ancestor.parent().orElse(null);
        }
        return fired;
    }

    private void collect(NodePath path, NodeEvent.Type type, boolean recursiveOnly, List<Watch> fired) {
        for (Watch watch : watches.getOrDefault(path, List.of())) {
            boolean concerned = !recursiveOnly || watch.kind == Kind.RECURSIVE;
            if (concerned && !watch.fired && watch.kind.sees(type)) {
                watch.fired = watch.kind.isOneShot();
                fired.add(watch);
            }
        }
    }

    /** The event of these watches has reached the session. */
    void delivered(List<Watch> fired) {
        for (Watch watch : fired) {
            if (watch.kind.isOneShot()) {
                watches.getOrDefault(watch.path, List.of()).remove(watch);
                dropIfEmpty(watch.path);
            }
        }
    }

    /** Forgets the watches whose replies are lost, and those events that were under way. */
    void connectionLost() {
        Iterator<List<Watch>> lists = watches.values().iterator();
        while (lists.hasNext()) {
            List<Watch> here = lists.next();
            here.removeIf(watch -> !watch.confirmed);
            here.forEach(watch -> watch.fired = false);
            if (here.isEmpty()) {
                lists.remove();
            }
        }
    }

    /**
     * What a new connection reports of one-shot watches: the difference between the tree now and what the session has
     * seen.
     */
    List<Missed> missed(MemoryTree tree, long seenZxid) {
        List<Missed> missed = new ArrayList<>();
        watches.forEach((path, here) -> {
            for (Watch watch : here) {
                NodeEvent.@Nullable Type type = missed(watch.kind, tree.find(path), seenZxid);
                if (type != null) {
                    watch.fired = true;
                    missed.add(new Missed(watch, type));
                }
            }
        });
        return missed;
    }

    /**
     * A one-shot watch that would have fired.
     *
     * @param watch the watch
     * @param type what it reports
     */
    record Missed(Watch watch, NodeEvent.Type type) {}

    private static NodeEvent.@Nullable Type missed(Kind kind, @Nullable Node node, long seenZxid) {
        if (!kind.isOneShot()) {
            return null;
        }
        if (kind == Kind.ABSENCE) {
            return node == null ? null : NodeEvent.Type.CREATED;
        }
        if (node == null) {
            return NodeEvent.Type.DELETED;
        }
        if (kind == Kind.DATA) {
            return node.mzxid > seenZxid ? NodeEvent.Type.DATA_CHANGED : null;
        }
        return node.pzxid > seenZxid ? NodeEvent.Type.CHILDREN_CHANGED : null;
    }

    void clear() {
        watches.clear();
    }

    int size() {
        return watches.values().stream().mapToInt(List::size).sum();
    }

    private void dropIfEmpty(NodePath path) {
        List<Watch> here = watches.get(path);
        if (here != null && here.isEmpty()) {
            watches.remove(path);
        }
    }
}
