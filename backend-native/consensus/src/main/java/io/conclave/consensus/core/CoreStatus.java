package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;

/**
 * Where a core stands.
 *
 * @param leader 0 if it is not known
 * @param commitIndex what it knows to be committed
 * @param lastIndex its log's end, durable or not
 * @param termCommitted it leads and an entry of its own term is committed
 * @param takesProposals it leads, and is not about to transfer leadership
 * @param provisional its log was cut and it has not caught up since
 * @param configuration the latest in the log, committed or not
 * @param configurationIndex the index of its entry; 0 at bootstrap
 * @param configurationCommitted whether that is committed
 * @param heardLeaderMs when it last heard the leader of its term; for a leader: when it last heard a majority
 */
public record CoreStatus(
        CoreRole role,
        long term,
        int leader,
        long commitIndex,
        long lastIndex,
        boolean termCommitted,
        boolean takesProposals,
        boolean provisional,
        ClusterConfiguration configuration,
        long configurationIndex,
        boolean configurationCommitted,
        long heardLeaderMs) {}
