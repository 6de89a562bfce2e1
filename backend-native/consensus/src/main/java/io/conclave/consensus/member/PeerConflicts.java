package io.conclave.consensus.member;

import io.conclave.consensus.core.Complaint;
import java.util.HashMap;
import java.util.Map;

/**
 * What members have sent that cannot be: it is counted and told, and the link on which it came ends. A link on which
 * two members contradict each other about what is committed lasts for an election timeout first, since they find out on
 * it which of them is wrong.
 */
final class PeerConflicts {
    private final RareWarnings warnings;
    private final PeerLinks links;
    private final long patienceMs;
    private final Map<Integer, Long> sinceMs = new HashMap<>();
    private long count;

    PeerConflicts(RareWarnings warnings, PeerLinks links, long patienceMs) {
        this.warnings = warnings;
        this.links = links;
        this.patienceMs = patienceMs;
    }

    /** A message of the member has been dealt with. */
    void add(int from, Complaint complaint, long nowMs) {
        if (complaint.isNone()) {
            return;
        }
        count++;
        warnings.tell(complaint.text());
        Long since = sinceMs.putIfAbsent(from, nowMs);
        if (complaint.endsLink() || (since != null && nowMs - since > patienceMs)) {
            links.disconnect(from, complaint.text());
        }
    }

    /** The link from the member has ended. */
    void linkLost(int from) {
        sinceMs.remove(from);
    }

    /** How many messages were ignored. */
    long count() {
        return count;
    }
}
