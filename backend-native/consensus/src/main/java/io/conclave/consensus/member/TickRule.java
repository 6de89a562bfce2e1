package io.conclave.consensus.member;

/**
 * When the core is told the time: a tick that is late waits until what has arrived meanwhile is read, since our own
 * pause is not others' silence.
 */
final class TickRule {
    private static final long LATE_MS = 5;
    private static final long READING_MS = 2;

    private long notBeforeMs;

    /** @param alone there is no other member whose messages could have come meanwhile */
    boolean isTime(long nowMs, long dueMs, boolean alone) {
        if (nowMs < dueMs) {
            return false;
        }
        if (notBeforeMs == 0 && nowMs - dueMs > LATE_MS && !alone) {
            notBeforeMs = nowMs + READING_MS;
        }
        if (nowMs < notBeforeMs) {
            return false;
        }
        notBeforeMs = 0;
        return true;
    }

    /** When that is, of a tick that is due then. */
    long timeMs(long dueMs) {
        return Math.max(dueMs, notBeforeMs);
    }
}
