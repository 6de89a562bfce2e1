package io.conclave.spring.integration;

import io.conclave.locks.DistributedLock;
import io.conclave.time.TimeSource;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The locks of a registry by their paths, and never two of one path, because a thread that holds one would wait for
 * itself in the other.
 *
 * <p>The locks that were asked for last are kept, up to a capacity, and those that are in use in any case. A lock that
 * is not kept is still found as long as anybody refers to it.
 */
final class RegistryCache {
    private final Function<String, DistributedLock> locks;
    private final TimeSource time;
    private final ReferenceQueue<RegistryLock> forgotten = new ReferenceQueue<>();
    // All below: @GuardedBy("this").
    private final LinkedHashMap<String, RegistryLock> kept = new LinkedHashMap<>(16, 0.75f, true);
    private final Map<String, Known> known = new HashMap<>();
    private int capacity;

    /** A lock that somebody may refer to. */
    private static final class Known extends WeakReference<RegistryLock> {
        private final String path;

        Known(String path, RegistryLock lock, ReferenceQueue<RegistryLock> forgotten) {
            super(lock, forgotten);
            this.path = path;
        }
    }

    RegistryCache(int capacity, TimeSource time, Function<String, DistributedLock> locks) {
        this.capacity = capacity;
        this.time = time;
        this.locks = locks;
    }

    synchronized void setCapacity(int newCapacity) {
        capacity = newCapacity;
        shrink();
    }

    /** The lock of the path; it counts as used now. */
    synchronized RegistryLock get(String path) {
        purge();
        RegistryLock lock = kept.get(path);
        if (lock == null) {
            lock = find(path);
            kept.put(path, lock);
            shrink();
        }
        lock.touch();
        return lock;
    }

    /** The lock is about to be used: it is kept, even if nobody refers to it. */
    private synchronized void keep(RegistryLock lock) {
        kept.put(lock.path(), lock);
    }

    private RegistryLock find(String path) {
        Known reference = known.get(path);
        @Nullable RegistryLock lock = reference == null ? null : reference.get();
        if (lock == null) {
            lock = new RegistryLock(locks.apply(path), time, this::keep);
            known.put(path, new Known(path, lock, forgotten));
        }
        return lock;
    }

    /** The eldest go that are not in use; one that is asked for right now is the youngest. */
    private void shrink() {
        Iterator<RegistryLock> eldest = kept.values().iterator();
        while (kept.size() > capacity && eldest.hasNext()) {
            if (!eldest.next().isInUse()) {
                eldest.remove();
            }
        }
    }

    private void purge() {
        Known reference = (Known) forgotten.poll();
        while (reference != null) {
            known.remove(reference.path, reference);
            reference = (Known) forgotten.poll();
        }
    }

    /** Forgets the locks that are not in use and were not for so long. */
    synchronized void removeUnused(long olderThanNanos) {
        kept.values().removeIf(lock -> !lock.isInUse() && lock.unusedNanos() > olderThanNanos);
    }

    /** How many are kept. */
    synchronized int size() {
        return kept.size();
    }
}
