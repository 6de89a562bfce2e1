package io.conclave.locks;

import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import java.util.HashMap;
import java.util.Map;

/**
 * Since when this process has seen leases unchanged, by its own monotonic clock: what is as it was for as long as it
 * lasts is over. No clock of another machine is asked, and none that can be set.
 *
 * <p>There is one for each coordinator, so what one call has seen counts for the next one. It keeps what a resource had
 * when it was looked at last. Thread-safe.
 */
final class LeaseSightings {
    private final Map<NodePath, Map<String, Sighting>> byResource = new HashMap<>(); // @GuardedBy("this")

    /**
     * A lease that was seen.
     *
     * @param mzxid the last change of its znode
     * @param sinceNanos when the first answer came that had this change
     */
    private record Sighting(long mzxid, long sinceNanos) {}

    static LeaseSightings of(RecipeSession session) {
        return session.keepWithCoordinator(LeaseSightings.class, LeaseSightings::new);
    }

    /**
     * All leases of a resource have been read.
     *
     * @param resource its absolute path
     * @param mzxids the last change of each, by name
     * @param nowNanos a moment after the answers, on the monotonic clock
     * @return since when each is known to be as it is
     */
    synchronized Map<String, Long> saw(NodePath resource, Map<String, Long> mzxids, long nowNanos) {
        Map<String, Sighting> before = byResource.getOrDefault(resource, Map.of());
        Map<String, Sighting> now = new HashMap<>();
        Map<String, Long> since = new HashMap<>();
        mzxids.forEach((name, mzxid) -> {
            Sighting known = before.get(name);
            Sighting sighting = known != null && known.mzxid == mzxid ? known : new Sighting(mzxid, nowNanos);
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
