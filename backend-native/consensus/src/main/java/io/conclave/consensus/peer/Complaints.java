package io.conclave.consensus.peer;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * What has been logged, so that a caller that comes again and again is complained of once, and one that varies what it
 * says does not fill the log: some complaints at once, and then two in an election timeout. Belongs to the network's
 * thread.
 */
final class Complaints {
    private static final int MAX_KEPT = 256;
    static final int MAX_AT_ONCE = 50;

    private final Set<String> kept = Collections.newSetFromMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > MAX_KEPT;
        }
    });

    private int left = MAX_AT_ONCE;

    /** Whether this is new, and may be logged. */
    boolean add(String complaint) {
        if (left == 0 || !kept.add(complaint)) {
            return false;
        }
        left--;
        return true;
    }

    /** Half an election timeout has passed. */
    void tick() {
        left = Math.min(MAX_AT_ONCE, left + 1);
    }

    /** All is well with the host again. */
    void forget(String prefix) {
        kept.removeIf(complaint -> complaint.startsWith(prefix));
    }
}
