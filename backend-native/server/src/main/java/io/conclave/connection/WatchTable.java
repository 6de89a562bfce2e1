package io.conclave.connection;

import io.conclave.tree.TreeEvent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/**
 * The watches of one event loop's connections. Belongs to that loop.
 *
 * <p>The kinds of watch that one connection has on one path are bits: a connection gets an event once, however many of
 * its watches match.
 */
final class WatchTable {
    /** One-shot: data and existence. */
    static final int DATA = 1;
    /** One-shot: the list of children. */
    static final int CHILDREN = 1 << 1;
    /** Stays: the node and its list of children. */
    static final int PERSISTENT = 1 << 2;
    /** Stays: the node and all descendants. */
    static final int RECURSIVE = 1 << 3;

    static final int ANY = DATA | CHILDREN | PERSISTENT | RECURSIVE;

    /** A watcher knows the paths that it watches, so that leaving costs no search. */
    interface Watcher {
        WatchedPaths watched();

        /** It keeps nothing of the event but what it has of it for itself. */
        void tell(SharedEvent event);
    }

    /** The watchers of a path get an event in the order in which they were set, the same in every run. */
    private final Map<String, Map<Watcher, Integer>> byPath = new HashMap<>();

    private final RecursivePaths recursive = new RecursivePaths();

    /** Each path of each watcher once. */
    private long watchCount;

    void add(String path, Watcher watcher, int kind) {
        Map<Watcher, Integer> watchers = byPath.computeIfAbsent(path, key -> new LinkedHashMap<>(2));
        int before = watchers.getOrDefault(watcher, 0);
        if (before == 0) {
            watcher.watched().add(path);
            watchCount++;
        }
        replace(path, watchers, watcher, before, before | kind);
    }

    /** Whether the watcher has a watch of one of the kinds on the path. */
    boolean contains(String path, Watcher watcher, int kinds) {
        return (kindsOf(path, watcher) & kinds) != 0;
    }

    /** Removes the watcher's watches of the kinds on the path; false if there were none. */
    boolean remove(String path, Watcher watcher, int kinds) {
        int before = kindsOf(path, watcher);
        if ((before & kinds) == 0) {
            return false;
        }
        Map<Watcher, Integer> watchers = byPath.getOrDefault(path, Map.of());
        replace(path, watchers, watcher, before, before & ~kinds);
        return true;
    }

    /** Removes the watches of some paths of a watcher that has gone; whether that were all. */
    boolean removeSome(Watcher watcher, int paths) {
        for (String path : watcher.watched().some(paths)) {
            remove(path, watcher, ANY);
        }
        return watcher.watched().size() == 0;
    }

    /** Tells the watchers of the event, after removing their one-shot watches. */
    void fire(TreeEvent event) {
        Map<Watcher, Integer> watchers = byPath.get(event.path());
        boolean ancestors = !recursive.isEmpty() && event.type() != TreeEvent.Type.CHILDREN_CHANGED;
        if (watchers == null && !ancestors) {
            return;
        }
        Collection<Watcher> told = ancestors ? new LinkedHashSet<>() : new ArrayList<>();
        if (watchers != null) {
            collect(event, watchers, told);
        }
        if (ancestors) {
            collectRecursive(event.path(), told);
        }
        SharedEvent shared = new SharedEvent(event, told.size());
        try {
            told.forEach(watcher -> watcher.tell(shared));
        } finally {
            shared.release();
        }
    }

    /** Removes all one-shot watches of a node's data; returns the watchers that had them. */
    List<Watcher> take(String path) {
        List<Watcher> taken = new ArrayList<>();
        for (Map.Entry<Watcher, Integer> entry :
                Map.copyOf(byPath.getOrDefault(path, Map.of())).entrySet()) {
            if (remove(path, entry.getKey(), DATA)) {
                taken.add(entry.getKey());
            }
        }
        return taken;
    }

    /** The watchers whose watches of the path itself stay when they have fired. */
    List<Watcher> lasting(String path) {
        return byPath.getOrDefault(path, Map.of()).entrySet().stream()
                .filter(entry -> (entry.getValue() & (PERSISTENT | RECURSIVE)) != 0)
                .map(Map.Entry::getKey)
                .toList();
    }

    private void collect(TreeEvent event, Map<Watcher, Integer> watchers, Collection<Watcher> told) {
        int matching = matching(event.type());
        int spent = matching & (DATA | CHILDREN);
        Iterator<Map.Entry<Watcher, Integer>> entries = watchers.entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry<Watcher, Integer> entry = entries.next();
            int kinds = entry.getValue();
            if ((kinds & matching) == 0) {
                continue;
            }
            told.add(entry.getKey());
            int left = kinds & ~spent;
            if (left == 0) {
                entry.getKey().watched().remove(event.path());
                entries.remove();
                watchCount--;
            } else if (left != kinds) {
                entry.setValue(left);
            }
        }
        if (watchers.isEmpty()) {
            byPath.remove(event.path());
        }
    }

    private static int matching(TreeEvent.Type type) {
        return switch (type) {
            case CREATED, DATA_CHANGED -> DATA | PERSISTENT | RECURSIVE;
            case DELETED -> ANY;
            case CHILDREN_CHANGED -> CHILDREN | PERSISTENT;
        };
    }

    /** Those that are among them already are told once. */
    private void collectRecursive(String path, Collection<Watcher> told) {
        for (Map<Watcher, Integer> watchers : recursive.above(path)) {
            watchers.forEach((watcher, kinds) -> {
                if ((kinds & RECURSIVE) != 0) {
                    told.add(watcher);
                }
            });
        }
    }

    private int kindsOf(String path, Watcher watcher) {
        return byPath.getOrDefault(path, Map.of()).getOrDefault(watcher, 0);
    }

    private void replace(String path, Map<Watcher, Integer> watchers, Watcher watcher, int before, int after) {
        if ((after & ~before & RECURSIVE) != 0) {
            recursive.add(path, watchers);
        } else if ((before & ~after & RECURSIVE) != 0) {
            recursive.remove(path);
        }
        if (after != 0) {
            watchers.put(watcher, after);
            return;
        }
        watchers.remove(watcher);
        watcher.watched().remove(path);
        watchCount--;
        if (watchers.isEmpty()) {
            byPath.remove(path);
        }
    }

    /** How many watches there are, each path of each watcher once. */
    long watchCount() {
        return watchCount;
    }

    /** How many paths are watched. */
    int size() {
        return byPath.size();
    }
}
