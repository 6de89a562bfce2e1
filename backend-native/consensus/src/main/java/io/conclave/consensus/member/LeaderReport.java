package io.conclave.consensus.member;

import io.conclave.consensus.LeaderStatus;
import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.PeerStatus;
import java.util.Set;
import java.util.TreeSet;

/** What is told of this member's leadership; looked at with each tick, so that a turn costs nothing. */
final class LeaderReport {
    private final long electionTimeoutMs;
    private long sinceMs;
    private LeaderStatus present = LeaderStatus.NONE;

    LeaderReport(long electionTimeoutMs) {
        this.electionTimeoutMs = electionTimeoutMs;
    }

    void roleChanged(boolean leads, Core core, long nowMs) {
        sinceMs = nowMs;
        present = LeaderStatus.NONE;
        if (leads) {
            look(core, nowMs);
        }
    }

    /** The leader's. */
    void look(Core core, long nowMs) {
        Set<Integer> heard = new TreeSet<>();
        Set<Integer> synced = new TreeSet<>();
        for (PeerStatus peer : core.peers()) {
            if (peer.isHeard(nowMs, electionTimeoutMs)) {
                heard.add(peer.member());
                if (peer.matchIndex() > 0 && !peer.needsSnapshot()) {
                    synced.add(peer.member());
                }
            }
        }
        present = new LeaderStatus(nowMs - sinceMs, heard, synced);
    }

    LeaderStatus present() {
        return present;
    }
}
