package io.conclave.consensus;

import java.util.Set;

/**
 * What a leader knows of its leadership and of the other members, as of its last heartbeat.
 *
 * @param forMs for how long it has led
 * @param heard the other members that have answered it within an election timeout, and to which there is a link
 * @param synced those of them that have all of its log up to some place, and get each entry behind that as it comes
 */
public record LeaderStatus(long forMs, Set<Integer> heard, Set<Integer> synced) {
    /** Of a member that does not lead. */
    public static final LeaderStatus NONE = new LeaderStatus(0, Set.of(), Set.of());

    public LeaderStatus {
        heard = Set.copyOf(heard);
        synced = Set.copyOf(synced);
    }
}
