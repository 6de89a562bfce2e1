package io.conclave.consensus.entry;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * What applying the log makes beside the application's state; it travels in snapshots.
 *
 * @param configuration the last committed one
 * @param configurationIndex the index of its entry; 0 for the configuration at bootstrap
 * @param featureLevel which semantics are switched on
 * @param proposers by member: the incarnation in force and the last sequence applied
 */
public record LogState(
        ClusterConfiguration configuration,
        long configurationIndex,
        int featureLevel,
        Map<Integer, Proposer> proposers) {
    /** Before the first entry. */
    public static final LogState INITIAL = new LogState(ClusterConfiguration.NONE, 0, 0, Map.of());

    public LogState {
        proposers = Collections.unmodifiableMap(new TreeMap<>(proposers));
    }

    /**
     * A member that proposes.
     *
     * @param nonce of the STARTED entry whose index is the incarnation
     * @param start which start of the member that is
     */
    public record Proposer(long incarnation, long nonce, long lastSequence, Start start) {}
}
