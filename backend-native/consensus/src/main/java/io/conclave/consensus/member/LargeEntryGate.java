package io.conclave.consensus.member;

import io.conclave.consensus.core.Core;

/**
 * When a leader may propose its next large entries: when the last ones are durable at all voters that follow, and the
 * small entries before them are committed. So no voter has a queue of large entries in front of small ones, one that is
 * somewhat slower does not fall behind, and no small entry waits for a second write of large ones.
 *
 * <p>A voter that is silent, or had not even the ones before, is not waited for, and nothing for longer than a moment:
 * this is fairness, and no matter of safety.
 */
final class LargeEntryGate {
    /** While small entries come without a pause, a large one goes among them so much later. */
    private static final long SMALL_FIRST_MS = 20;

    private final long patienceMs;
    private long previousIndex;
    private long lastIndex;
    private long lastMs;
    private long waitsSinceMs = Long.MAX_VALUE;

    /** @param heartbeatMs a member that answers is never silent for twice as long */
    LargeEntryGate(long heartbeatMs) {
        this.patienceMs = heartbeatMs;
    }

    /** Asked while a large entry waits. */
    boolean isOpen(Core core, long commitIndex, long nowMs) {
        boolean followsLast = lastIndex == 0
                || nowMs >= lastMs + patienceMs
                || core.isWithVotersThatFollow(previousIndex, lastIndex, nowMs - 2 * patienceMs);
        if (!followsLast) {
            waitsSinceMs = Long.MAX_VALUE;
            return false;
        }
        waitsSinceMs = Math.min(waitsSinceMs, nowMs);
        return commitIndex >= core.lastIndex() || nowMs >= waitsSinceMs + SMALL_FIRST_MS;
    }

    /** When it opens at the latest, if nothing else happens. */
    long opensMs() {
        return waitsSinceMs == Long.MAX_VALUE ? lastMs + patienceMs : waitsSinceMs + SMALL_FIRST_MS;
    }

    void proposed(long index, long nowMs) {
        previousIndex = lastIndex;
        lastIndex = index;
        lastMs = nowMs;
        waitsSinceMs = Long.MAX_VALUE;
    }

    /** This member leads no more. */
    void reset() {
        previousIndex = 0;
        lastIndex = 0;
        waitsSinceMs = Long.MAX_VALUE;
    }
}
