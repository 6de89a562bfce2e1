package io.conclave.locks;

import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Since when this process has seen leases unchanged, by its own monotonic clock: what is as it was for as long as it
 * lasts is over. No clock of another machine is asked, and none that can be set.
 *
 * <p>There is one for each coordinator, so what one call has seen counts for the next one. It keeps what a resource had
 * when it was looked at last, of those {@value #MOST} that were looked at last: the time of one that is forgotten
 * counts anew. Thread-safe.
 */
final class LeaseSightings {
    static final int MOST = 20_000;

    // @GuardedBy("this"), as it was looked at.
    private final Map<NodePath, Map<String, Sighting>> byResource = new LinkedHashMap<>(16, 0.75F, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<NodePath, Map<String, Sighting>> eldest) {
            return size() > MOST;
        }
    };

    /**
     * A lease that was seen.
     *
     * @param generation of the store: one that went back in time may count the same changes again
     * @param mzxid the last change of its znode
     * @param sinceNanos when the first answer came that had this change
     */
    private record Sighting(long generation, long mzxid, long sinceNanos) {
        boolean isOf(long presentGeneration, long presentMzxid) {
            return generation == presentGeneration && mzxid == presentMzxid;
        }
    }

    static LeaseSightings of(RecipeSession session) {
        return session.keepWithCoordinator(LeaseSightings.class, LeaseSightings::new);
    }

    /**
     * All leases of a resource have been read.
     *
     * @param resource its absolute path
     * @param generation the store's
     * @param mzxids the last change of each, by name
     * @param nowNanos a moment after the answers, on the monotonic clock
     * @return since when each is known to be as it is
     */
    synchronized Map<String, Long> saw(NodePath resource, long generation, Map<String, Long> mzxids, long nowNanos) {
        Map<String, Sighting> before = byResource.getOrDefault(resource, Map.of());
        Map<String, Sighting> now = new HashMap<>();
        Map<String, Long> since = new HashMap<>();
        mzxids.forEach((name, mzxid) -> {
            Sighting known = before.get(name);
            Sighting sighting =
                    known != null && known.isOf(generation, mzxid) ? known : new Sighting(generation, mzxid, nowNanos);
            now.put(name, sighting);
            since.put(name, sighting.sinceNanos);
        });
        if (now.isEmpty()) {
            byResource.remove(resource);
        } else {
            byResource.put(resource, now);
        }
        return since;
    }
}
