package io.conclave.consensus.entry;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntPredicate;

/**
 * Who belongs to the cluster and who votes. While a change of voters is under way (joint consensus, Raft thesis §4.3)
 * there are two sets of voters, and a majority is one of each.
 *
 * @param members all members by id, learners included
 * @param voters who votes
 * @param outgoing who voted before; empty but during a change of voters
 */
public record ClusterConfiguration(Map<Integer, Member> members, Set<Integer> voters, Set<Integer> outgoing) {
    /** Of a member that belongs to no cluster yet. */
    public static final ClusterConfiguration NONE = new ClusterConfiguration(Map.of(), Set.of(), Set.of());

    public ClusterConfiguration {
        members = java.util.Collections.unmodifiableMap(new TreeMap<>(members));
        voters = java.util.Collections.unmodifiableSet(new TreeSet<>(voters));
        outgoing = java.util.Collections.unmodifiableSet(new TreeSet<>(outgoing));
        if (!members.keySet().containsAll(voters) || !members.keySet().containsAll(outgoing)) {
            throw new IllegalArgumentException(
                    "voters " + voters + " and " + outgoing + " must be members: " + members.keySet());
        }
    }

    /** A change of voters is under way. */
    public boolean isJoint() {
        return !outgoing.isEmpty();
    }

    /** Whether the member has a vote in either set. */
    public boolean isVoter(int id) {
        return voters.contains(id) || outgoing.contains(id);
    }

    /** Whether those who said yes are a majority of both sets. */
    public boolean isMajority(IntPredicate yes) {
        return !voters.isEmpty() && isMajority(voters, yes) && (outgoing.isEmpty() || isMajority(outgoing, yes));
    }

    private static boolean isMajority(Set<Integer> of, IntPredicate yes) {
        return of.stream().filter(yes::test).count() > of.size() / 2;
    }
}
