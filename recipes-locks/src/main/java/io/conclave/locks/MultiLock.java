package io.conclave.locks;

import io.conclave.node.NodePath;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Several locks as one: all of them or none, under one deadline.
 *
 * <p>The lines of all locks are entered in one transaction. So users of overlapping sets of locks through multi-locks
 * stand in the same order in every line, and cannot wait for each other in a circle. A caller that holds one of the
 * locks by itself must not ask for another one of them: then a circle is possible. However an acquire ends, nothing of
 * it stays behind: at once, or as soon as the connection is back.
 *
 * <p>The locks may be of different coordinators: with other namespaces, or connected to other stores. Then it waits for
 * those of one coordinator at a time and holds nothing else meanwhile, and may be overtaken. No multi-lock has two
 * locks of one absolute path (of two stores neither). The grant is lost with the first of its sessions. Immutable and
 * thread-safe; making one costs nothing.
 */
public final class MultiLock extends AcquiredByWaiting<MultiLockGrant> {
    /** The most locks of one multi-lock: their creations travel in one request. */
    public static final int MAX_LOCKS = 1000;

    private final List<LineLock<?>> locks;

    private MultiLock(List<LineLock<?>> locks) {
        this.locks = locks;
    }

    /**
     * These locks as one.
     *
     * @throws IllegalArgumentException if there is none or more than {@link #MAX_LOCKS}, or two have the same path,
     *     naming it; the halves of a shared lock have the same
     */
    public static MultiLock of(SingleLock... locks) {
        return of(Arrays.asList(locks));
    }

    /** As {@link #of(SingleLock...)}. */
    public static MultiLock of(List<? extends SingleLock> locks) {
        if (locks.isEmpty()) {
            throw new IllegalArgumentException("Invalid multi-lock without locks: it needs at least one");
        }
        if (locks.size() > MAX_LOCKS) {
            throw new IllegalArgumentException(
                    "Invalid multi-lock of " + locks.size() + " locks: it may have at most " + MAX_LOCKS);
        }
        SortedMap<NodePath, LineLock<?>> byPath = new TreeMap<>();
        for (SingleLock lock : locks) {
            LineLock<?> line = (LineLock<?>) lock;
            NodePath path = absolutePath(line);
            if (byPath.put(path, line) != null) {
                throw new IllegalArgumentException("Invalid multi-lock: two of its locks are at " + path
                        + ", and the second would wait for the first indefinitely");
            }
        }
        return new MultiLock(new ArrayList<>(byPath.values()));
    }

    static NodePath absolutePath(LineLock<?> lock) {
        return lock.line().session().absolute(lock.path());
    }

    @Override
    Entered<MultiLockGrant> enter(boolean patient) {
        MultiLockRequest request = MultiLockRequest.enter(locks, patient);
        return new Entered<>(request, () -> new HeldMultiLock(request));
    }

    @Override
    public String toString() {
        return "MultiLock" + locks;
    }
}
