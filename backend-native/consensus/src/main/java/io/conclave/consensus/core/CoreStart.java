package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogBatch;
import java.util.List;
import java.util.Set;

/**
 * What a member starts from: itself and what recovery found.
 *
 * @param member its number
 * @param directory the random id of its directory, never 0
 * @param term the last one that it was in
 * @param votedFor 0 for none
 * @param baseIndex everything up to here is committed and has been given to the application; 0 at bootstrap
 * @param baseTerm the term of that
 * @param baseTimestampMs the time of that
 * @param configuration the last one at or below the base
 * @param configurationIndex the index of its entry
 * @param rest batches behind the base, durable and perhaps not committed
 * @param cut the end of the log may have been lost now or before an earlier start, and the member has not caught up
 *     since
 * @param doubtTerm if it was cut: the term that the member was in then
 * @param others members that it asks before it leads as the only voter, besides the configured ones
 */
public record CoreStart(
        int member,
        long directory,
        long term,
        int votedFor,
        long baseIndex,
        long baseTerm,
        long baseTimestampMs,
        ClusterConfiguration configuration,
        long configurationIndex,
        List<LogBatch> rest,
        boolean cut,
        long doubtTerm,
        Set<Integer> others) {
    public CoreStart {
        rest = List.copyOf(rest);
        others = Set.copyOf(others);
        if (directory == 0) {
            throw new IllegalArgumentException("member " + member + " has no directory id");
        }
        if (baseTerm > term || configurationIndex > baseIndex) {
            throw new IllegalArgumentException("the log's base (index " + baseIndex + ", term " + baseTerm
                    + ") does not fit term " + term + " and the configuration at " + configurationIndex);
        }
    }
}
