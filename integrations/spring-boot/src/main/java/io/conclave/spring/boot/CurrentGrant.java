package io.conclave.spring.boot;

import io.conclave.grant.FencedGrant;
import io.conclave.node.NodePath;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * The grant under which the calling thread runs a {@link DistributedLocked} method: for its fencing token, and to ask
 * whether it is still held.
 */
public final class CurrentGrant {
    private static final ThreadLocal<Deque<Entry>> ENTRIES = new ThreadLocal<>();

    /** What a thread runs under: a kind of recipe at a path. */
    record Entry(Object kind, NodePath path, FencedGrant grant) {}

    private CurrentGrant() {}

    /** The innermost grant of this thread; empty outside of such methods. Never blocks. */
    public static Optional<FencedGrant> get() {
        Deque<Entry> entries = ENTRIES.get();
        return entries == null
                ? Optional.empty()
                : Optional.of(entries.getFirst().grant());
    }

    /** That of this kind and path, if this thread runs under it. */
    static Optional<FencedGrant> find(Object kind, NodePath path) {
        Deque<Entry> entries = ENTRIES.get();
        return entries == null
                ? Optional.empty()
                : entries.stream()
                        .filter(entry ->
                                entry.kind().equals(kind) && entry.path().equals(path))
                        .map(Entry::grant)
                        .findFirst();
    }

    static void enter(Entry entry) {
        Deque<Entry> entries = ENTRIES.get();
        if (entries == null) {
            entries = new ArrayDeque<>();
            ENTRIES.set(entries);
        }
        entries.addFirst(entry);
    }

    static void leave() {
        Deque<Entry> entries = ENTRIES.get();
        entries.removeFirst();
        if (entries.isEmpty()) {
            ENTRIES.remove();
        }
    }
}
