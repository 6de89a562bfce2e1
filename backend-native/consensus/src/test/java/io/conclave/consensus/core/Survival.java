package io.conclave.consensus.core;

import static io.conclave.consensus.core.Invariants.check;

import io.conclave.consensus.core.PeerMessage.VoteRequest;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogBatch;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/**
 * Leader completeness (thesis §3.6) of the elections that could come next: if all lost their power at this very moment,
 * no member that lacks a committed entry could be elected, by the rules that the members have. So a mistake is seen
 * when it does its damage, and not only when chance brings the election that shows it.
 */
final class Survival {
    private Survival() {}

    static void checkThat(LogBatch committed, Collection<SimulatedMember> members, SimulatedCluster cluster) {
        Rules rules = cluster.mistake.rules();
        for (SimulatedMember candidate : members) {
            DurableState disk = candidate.disk;
            ClusterConfiguration configuration = disk.configuration();
            boolean stands = configuration.isVoter(candidate.id)
                    && rules.countsAsVoter(
                            configuration.members().get(candidate.id).directory(), disk.directory);
            if (stands && !disk.has(committed)) {
                checkNotElectable(candidate, committed, rules, cluster);
            }
        }
    }

    private static void checkNotElectable(
            SimulatedMember candidate, LogBatch committed, Rules rules, SimulatedCluster cluster) {
        DurableState disk = candidate.disk;
        ClusterConfiguration configuration = disk.configuration();
        VoteRequest request = new VoteRequest(false, 0, disk.lastIndex(), disk.lastTerm(), 0, false);
        Set<Integer> complete = new HashSet<>();
        Set<Integer> provisional = new HashSet<>();
        configuration.members().forEach((id, configured) -> {
            DurableState voter = cluster.member(id).disk;
            if (configuration.isVoter(id)
                    && rules.isAsked(configured.directory(), voter.directory)
                    && rules.countsAsVoter(configured.directory(), voter.directory)
                    && rules.isUpToDate(request, voter.lastIndex(), voter.lastTerm())) {
                (voter.torn ? provisional : complete).add(id);
            }
        });
        check(
                !rules.isElected(configuration, complete, provisional),
                () -> committed + " is committed, but member " + candidate.id
                        + " has not got it and could be elected by " + complete + " and, having lost something, "
                        + provisional);
    }
}
