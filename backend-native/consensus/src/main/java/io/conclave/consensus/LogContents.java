package io.conclave.consensus;

import io.conclave.consensus.entry.ClusterConfiguration;
import java.util.List;
import java.util.UUID;

/**
 * What the log of a member that does not run has, found out by recovering it without touching it.
 *
 * @param clusterId of its cluster
 * @param memberId of its member
 * @param configuration the cluster's, by the last entry that the log has
 * @param committedIndex up to where it is known here that a majority had it
 * @param lastIndex of the last entry; what lies behind the committed ones may have been committed or not
 * @param lastTerm of the last entry
 * @param lastTimeMs of the last entry, since the epoch
 * @param torn whether its end was torn once, and the member has not caught up since: entries that it had acknowledged
 *     may be missing
 * @param damaged what is damaged and not needed, such as a snapshot that an older one stands in for
 */
public record LogContents(
        UUID clusterId,
        int memberId,
        ClusterConfiguration configuration,
        long committedIndex,
        long lastIndex,
        long lastTerm,
        long lastTimeMs,
        boolean torn,
        List<String> damaged) {}
