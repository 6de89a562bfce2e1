package io.conclave.consensus.member;

import io.conclave.consensus.ImpossibleChangeException;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.NoLiveMajorityException;
import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.PeerStatus;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Which changes of the membership a leader may make, as the members stand and answer now. */
final class MembershipChecks {
    private final int memberId;
    private final long electionTimeoutMs;

    MembershipChecks(int memberId, long electionTimeoutMs) {
        this.memberId = memberId;
        this.electionTimeoutMs = electionTimeoutMs;
    }

    /** Why the change cannot be made, whatever answers now; empty if it can. */
    static String refusalOf(MembershipChange change, ClusterConfiguration current) {
        if (change instanceof MembershipChange.Put put) {
            EnsembleMember wanted = put.member();
            if (Math.max(wanted.host().length(), wanted.clientHost().length()) > EnsembleMember.MAX_HOST_CHARS) {
                return "a host of member " + wanted.id() + " has more than " + EnsembleMember.MAX_HOST_CHARS
                        + " characters";
            }
            return wanted.observer() && current.isOnlyVoter(wanted.id())
                    ? "member " + wanted.id() + " is the only voter, so it cannot be an observer"
                    : conflict(wanted, current);
        }
        int member = ((MembershipChange.Remove) change).member();
        return current.isOnlyVoter(member) ? "member " + member + " is the only voter" : "";
    }

    private static String conflict(EnsembleMember wanted, ClusterConfiguration current) {
        for (EnsembleMember other : current.members().values()) {
            Optional<String> shared = other.id() == wanted.id() ? Optional.empty() : wanted.addressOf(other);
            if (shared.isPresent()) {
                return "the address " + shared.get() + " of member " + wanted.id() + " is that of member " + other.id();
            }
        }
        return "";
    }

    /** Whether enough voters answer for a change to be committed, and for what follows it. */
    boolean mayCommit(Core core, ClusterConfiguration current, ClusterConfiguration target, long nowMs) {
        boolean changesNoVoter = target.voters().equals(current.voters())
                && moved(current, target).isEmpty();
        return changesNoVoter
                || target.isOnlyVoter(memberId)
                || target.isMajority(live(core, current, target, nowMs)::contains);
    }

    /** The voters to be that have answered within an election timeout where they will be, this member included. */
    private Set<Integer> live(Core core, ClusterConfiguration current, ClusterConfiguration target, long nowMs) {
        Set<Integer> live = new TreeSet<>(Set.of(memberId));
        for (PeerStatus peer : core.peers()) {
            EnsembleMember member = target.members().get(peer.member());
            if (member != null
                    && peer.matchIndex() > 0
                    && peer.isHeard(nowMs, electionTimeoutMs)
                    && peer.directory() == member.directory()) {
                live.add(peer.member());
            }
        }
        live.retainAll(target.voters());
        live.removeAll(moved(current, target));
        return live;
    }

    /** Voters that others reach at another address than before: the process at the old one may not be there. */
    private static Set<Integer> moved(ClusterConfiguration current, ClusterConfiguration target) {
        Set<Integer> moved = new TreeSet<>();
        for (int voter : target.voters()) {
            EnsembleMember before = current.members().get(voter);
            EnsembleMember after = target.members().get(voter);
            if (before != null && after != null && !before.isReachedAs(after)) {
                moved.add(voter);
            }
        }
        return moved;
    }

    /**
     * Whether it gives a member another address that answers at its present one. That listens there until it is
     * stopped, and the others would look for it elsewhere. No other voter looks for the only one.
     */
    boolean movesRunning(Core core, MembershipChange change, ClusterConfiguration current, long nowMs) {
        if (!(change instanceof MembershipChange.Put put) || put.force()) {
            return false;
        }
        int id = put.member().id();
        EnsembleMember before = current.members().get(id);
        if (before == null || !before.hasAddress() || before.isReachedAs(put.member())) {
            return false;
        }
        return id == memberId
                ? !current.isOnlyVoter(memberId)
                : core.peers().stream().anyMatch(peer -> peer.member() == id && peer.isHeard(nowMs, electionTimeoutMs));
    }

    /** What is said of a change that moves one that runs. */
    static ImpossibleChangeException stillRuns(MembershipChange change) {
        int id = ((MembershipChange.Put) change).member().id();
        return new ImpossibleChangeException("member " + id + " runs, and listens at its present address until it is"
                + " stopped, while the others would look for it at the new one. Stop it, change its address through"
                + " another server, change its line, and start it");
    }

    NoLiveMajorityException noLiveMajority(
            Core core, ClusterConfiguration current, ClusterConfiguration target, long nowMs) {
        Set<Integer> moved = moved(current, target);
        return new NoLiveMajorityException("of servers " + target.voters() + ", which would vote then, only "
                + live(core, current, target, nowMs) + " answer the leader"
                + (moved.isEmpty() ? "" : " (not counting " + moved + ", whose address would be another one)")
                + "; the change could not be committed, and every write would wait behind it. Bring one of the others"
                + " back first");
    }
}
