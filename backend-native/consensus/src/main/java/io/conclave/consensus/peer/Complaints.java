package io.conclave.consensus.peer;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * What has been logged, so that a caller that comes again and again is complained of once. Belongs to the network's
 * thread.
 */
final class Complaints {
    private static final int MAX_KEPT = 256;

    private final Set<String> kept = Collections.newSetFromMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > MAX_KEPT;
        }
    });

    /** Whether this is new. */
    boolean add(String complaint) {
        return kept.add(complaint);
    }

    /** All is well with the host again. */
    void forget(String prefix) {
        kept.removeIf(complaint -> complaint.startsWith(prefix));
    }
}
