package io.conclave.consensus.core;

/**
 * What a leader knows of another member.
 *
 * @param directory whose log it showed when it was linked; 0 if it never was
 * @param linked there is a link to it, as far as is known
 * @param matchIndex up to where its log is durable and equal to the leader's, as far as it has reported on this link
 * @param needsSnapshot it is too far behind for the batches in memory
 * @param heardMs when it last answered
 */
public record PeerStatus(
        int member, long directory, boolean linked, long matchIndex, boolean needsSnapshot, long heardMs) {
    /** Whether it has answered within the time, and there is a link to it. */
    public boolean isHeard(long nowMs, long withinMs) {
        return linked && nowMs - heardMs < withinMs;
    }
}
