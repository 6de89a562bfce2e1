package io.conclave.consensus.entry;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntPredicate;

/**
 * The members of the cluster, and the voters among them. While a change of voters is under way (joint consensus, Raft
 * thesis §4.3) there are two sets of voters, and a majority is one of each.
 *
 * @param members all members by id, learners included
 * @param voters the members that vote
 * @param outgoing the members that voted before; empty but during a change of voters
 * @param leaving outgoing voters that are no members any more once the change is complete; the others become learners
 * @param removed numbers of members that were removed on purpose: an operator's list does not bring them back
 */
public record ClusterConfiguration(
        Map<Integer, EnsembleMember> members,
        Set<Integer> voters,
        Set<Integer> outgoing,
        Set<Integer> leaving,
        Set<Integer> removed) {
    /** Of a member that belongs to no cluster yet. */
    public static final ClusterConfiguration NONE = new ClusterConfiguration(Map.of(), Set.of(), Set.of());

    public ClusterConfiguration {
        members = Collections.unmodifiableMap(new TreeMap<>(members));
        voters = Collections.unmodifiableSet(new TreeSet<>(voters));
        outgoing = Collections.unmodifiableSet(new TreeSet<>(outgoing));
        leaving = Collections.unmodifiableSet(new TreeSet<>(leaving));
        removed = Collections.unmodifiableSet(new TreeSet<>(removed));
        if (!members.keySet().containsAll(voters) || !members.keySet().containsAll(outgoing)) {
            throw new IllegalArgumentException(
                    "voters " + voters + " and " + outgoing + " must be members: " + members.keySet());
        }
        if (!outgoing.containsAll(leaving) || leaving.stream().anyMatch(voters::contains)) {
            throw new IllegalArgumentException("members that leave " + leaving + " must be outgoing voters " + outgoing
                    + "; voters are " + voters);
        }
    }

    /** A configuration without members that are leaving or were removed. */
    public ClusterConfiguration(Map<Integer, EnsembleMember> members, Set<Integer> voters, Set<Integer> outgoing) {
        this(members, voters, outgoing, Set.of(), Set.of());
    }

    /** A configuration without removed members. */
    public ClusterConfiguration(
            Map<Integer, EnsembleMember> members, Set<Integer> voters, Set<Integer> outgoing, Set<Integer> leaving) {
        this(members, voters, outgoing, leaving, Set.of());
    }

    /** The same with other members and voters, and no change under way. */
    public ClusterConfiguration with(Map<Integer, EnsembleMember> newMembers, Set<Integer> newVoters) {
        return new ClusterConfiguration(newMembers, newVoters, Set.of(), Set.of(), removed);
    }

    /** A change of voters is under way. */
    public boolean isJoint() {
        return !outgoing.isEmpty();
    }

    /** Whether the member has a vote in either set. */
    public boolean isVoter(int id) {
        return voters.contains(id) || outgoing.contains(id);
    }

    /** Whether the member decides alone. */
    public boolean isOnlyVoter(int id) {
        return outgoing.isEmpty() && voters.size() == 1 && voters.contains(id);
    }

    /** Whether those that said yes are a majority of both sets. */
    public boolean isMajority(IntPredicate yes) {
        return !voters.isEmpty() && isMajority(voters, yes) && (outgoing.isEmpty() || isMajority(outgoing, yes));
    }

    private static boolean isMajority(Set<Integer> of, IntPredicate yes) {
        return of.stream().filter(yes::test).count() > of.size() / 2;
    }
}
