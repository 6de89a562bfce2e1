package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogBatch;
import java.util.List;

/**
 * What a member starts from: itself and what recovery found.
 *
 * @param member its number
 * @param directory the random id of its directory, never 0
 * @param term the last one that it was in
 * @param votedFor 0 for nobody
 * @param baseIndex everything up to here is committed and has been given to the application; 0 at birth
 * @param baseTerm the term of that
 * @param baseTimestampMs the time of that
 * @param configuration the last one at or below the base
 * @param configurationIndex the index of its entry
 * @param rest batches behind the base, durable and perhaps not committed
 * @param cut the end of the log may have been lost in this or an earlier life, and the member has not caught up since
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
        boolean cut) {
    public CoreStart {
        rest = List.copyOf(rest);
        if (directory == 0) {
            throw new IllegalArgumentException("member " + member + " has no directory id");
        }
        if (baseTerm > term || configurationIndex > baseIndex) {
            throw new IllegalArgumentException("the log's base (index " + baseIndex + ", term " + baseTerm
                    + ") does not fit term " + term + " and the configuration at " + configurationIndex);
        }
    }
}
