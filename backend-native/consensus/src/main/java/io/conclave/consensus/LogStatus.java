package io.conclave.consensus;

import io.conclave.consensus.entry.ClusterConfiguration;
import java.util.UUID;

/**
 * Where a member's log stands.
 *
 * @param memberId this member's number
 * @param role what it is doing
 * @param leader the leader, as far as this member knows; 0 if there is none
 * @param term the current term; 0 before the first
 * @param lastIndex index of the last entry of this member's log, committed or not
 * @param commitIndex up to where this member knows the log to be committed
 * @param appliedIndex index of the last entry applied here
 * @param configuration the members of the cluster, as of the last entry applied
 * @param configurationIndex the index of its entry; 0 at bootstrap
 * @param clusterId the id the cluster got at bootstrap; all zero before the log has started or found its cluster
 * @param disk whether there is room
 * @param readingState whether this member reads the state of a snapshot that another member sent, and serves
 *     nothing yet
 * @param conflicts how many messages of other members were ignored since no member can send them
 * @param noLeaderReason why there is no leader, as far as this member knows, or none that it has a link to, in one
 *     sentence; empty if there is one
 * @param leadership what this member knows as the leader
 */
public record LogStatus(
        int memberId,
        LogRole role,
        int leader,
        long term,
        long lastIndex,
        long commitIndex,
        long appliedIndex,
        ClusterConfiguration configuration,
        long configurationIndex,
        UUID clusterId,
        DiskState disk,
        boolean readingState,
        long conflicts,
        String noLeaderReason,
        LeaderStatus leadership) {
    private static final UUID NO_CLUSTER = new UUID(0, 0);
    private static final String JOINING_REASON = "the log directory of this server is empty, and no cluster that has or"
            + " lists it as a member has taken it in yet";

    /** Of a log that has not got to anything yet, or will not any more. */
    public static LogStatus idle(int memberId, LogRole role) {
        return new LogStatus(
                memberId,
                role,
                0,
                0,
                0,
                0,
                0,
                ClusterConfiguration.NONE,
                0,
                NO_CLUSTER,
                DiskState.ROOM,
                false,
                0,
                role == LogRole.JOINING ? JOINING_REASON : "",
                LeaderStatus.NONE);
    }
}
