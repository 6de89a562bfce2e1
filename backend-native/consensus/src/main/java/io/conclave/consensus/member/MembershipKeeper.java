package io.conclave.consensus.member;

import io.conclave.consensus.ChangeOutcomeUnknownException;
import io.conclave.consensus.ImpossibleChangeException;
import io.conclave.consensus.LogException;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.CoreRole;
import io.conclave.consensus.core.CoreStatus;
import io.conclave.consensus.core.PeerStatus;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.ConfigurationText;
import io.conclave.consensus.entry.EnsembleMember;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The leader's changes of the membership, one at a time: takes in members that the operator lists and the cluster does
 * not know, demotes one that shows another directory than the configured one (it was wiped, and has no vote), makes
 * learners that have caught up voters, and carries out changes that are asked for.
 */
final class MembershipKeeper {
    private static final Logger log = LoggerFactory.getLogger(MembershipKeeper.class);

    private record Request(MembershipChange change, long knownIndex, CompletableFuture<Long> done) {
        /** It is made at that index. */
        void made(long index) {
            done.complete(Math.max(index, knownIndex));
        }

        /** There was nothing to change: what its asker knows of the members is no newer than before. */
        void wasMade() {
            done.complete(knownIndex);
        }

        void refused(LogException reason) {
            done.completeExceptionally(reason);
        }
    }

    /** A request that is under way, and the configuration that it leads to. */
    private record Running(Request request, ClusterConfiguration target) {}

    /** How far a learner has to come, and by when, to count as caught up (Raft thesis §4.2.1). */
    private record Round(long target, long beganMs) {}

    private final int memberId;
    private final Map<Integer, EnsembleMember> listed;
    private final long electionTimeoutMs;
    private final MembershipChecks checks;

    /** Of the members that there are links to. */
    private final Map<Integer, Long> directories = new HashMap<>();

    private final Map<Integer, Round> rounds = new HashMap<>();
    private final Set<Integer> caughtUp = new HashSet<>();

    private final Deque<Request> requests = new ArrayDeque<>();
    private @Nullable Running running;
    private long term;

    /** No change that was asked for comes behind this index of the log. */
    private long askedIndex;

    /** Something has happened that a change may follow from. */
    private boolean stirred = true;

    MembershipKeeper(int memberId, Map<Integer, EnsembleMember> listed, long electionTimeoutMs) {
        this.memberId = memberId;
        this.listed = listed;
        this.electionTimeoutMs = electionTimeoutMs;
        this.checks = new MembershipChecks(memberId, electionTimeoutMs);
    }

    /** There may be something to do: time has passed, or a configuration is committed. */
    void stir() {
        stirred = true;
    }

    void linked(int member, long directory) {
        stirred = true;
        Long before = directories.put(member, directory);
        if (before == null || before != directory) {
            forget(member);
        }
    }

    void linkDown(int member) {
        directories.remove(member);
        forget(member);
    }

    private void forget(int member) {
        rounds.remove(member);
        caughtUp.remove(member);
    }

    /** Asks for a change; refused at once if this member does not lead. */
    void request(MembershipChange change, long knownIndex, CompletableFuture<Long> done, CoreStatus status) {
        if (status.role() != CoreRole.LEADER) {
            done.completeExceptionally(notLeading(status));
        } else {
            requests.add(new Request(change, knownIndex, done));
            stirred = true;
        }
    }

    static LogException notLeading(CoreStatus status) {
        return new LogException(
                status.leader() == 0
                        ? "this member does not lead, and there is no leader now"
                        : "this member does not lead; member " + status.leader() + " does");
    }

    /** This member leads no more, or in another term: a leader that removes itself knows that it was removed. */
    void deposed(CoreStatus status) {
        term = status.term();
        askedIndex = status.configurationIndex(); // whatever an earlier leader was asked for is no later
        rounds.clear();
        caughtUp.clear();
        if (running != null) {
            if (status.configurationCommitted() && status.configuration().equals(running.target())) {
                running.request().made(askedIndex);
            } else {
                running.request()
                        .refused(new ChangeOutcomeUnknownException(
                                "leadership was lost before the change was committed; the next leader may commit it"));
            }
            running = null;
        }
        LogException notBegun = new LogException("leadership was lost before the change was begun");
        requests.forEach(request -> request.refused(notBegun));
        requests.clear();
    }

    /**
     * The leader's: begins the next change, if there is one to make and none under way; returns whether it did.
     *
     * @param applied the configuration in force at what is applied
     */
    boolean keep(Core core, long nowMs, long timestampMs, ClusterConfiguration applied) {
        if (!stirred) {
            return false;
        }
        stirred = false;
        CoreStatus status = core.status();
        if (status.term() != term) {
            deposed(status);
        }
        ClusterConfiguration current = status.configuration();
        if (!status.termCommitted()
                || !status.takesProposals()
                || !status.configurationCommitted()
                || current.isJoint()
                || !current.equals(applied)) {
            return false;
        }
        if (running != null) {
            running.request().made(askedIndex);
            running = null;
        }
        ClusterConfiguration target = next(core, status, nowMs);
        if (target.equals(current)) {
            return false;
        }
        log.info("changing the members: {}", ConfigurationText.change(current, target));
        core.reconfigure(nowMs, timestampMs, target);
        if (running != null) {
            askedIndex = core.status().configurationIndex();
        }
        return true;
    }

    private ClusterConfiguration next(Core core, CoreStatus status, long nowMs) {
        ClusterConfiguration current = status.configuration();
        while (!requests.isEmpty()) {
            Request request = requests.remove();
            String impossible = MembershipChecks.refusalOf(request.change(), current);
            if (!impossible.isEmpty()) {
                request.refused(new ImpossibleChangeException(impossible));
                continue;
            }
            ClusterConfiguration target = apply(request.change(), current);
            if (target.equals(current)) {
                request.wasMade();
                continue;
            }
            Optional<LogException> refusal = refusalNow(core, request, current, target, nowMs);
            if (refusal.isEmpty()) {
                running = new Running(request, target);
                return target;
            }
            request.refused(refusal.get());
        }
        ClusterConfiguration wiped = withShownDirectories(current);
        if (!wiped.equals(current)) {
            return wiped;
        }
        ClusterConfiguration grown = withListed(current);
        if (!grown.equals(current)) {
            return grown;
        }
        ClusterConfiguration voting = withVotes(core, status, nowMs);
        return voting.equals(current) ? withoutVotesOfObservers(core, current, nowMs) : voting;
    }

    // ---- what is asked for

    /** Why a change that is possible is not made now, if so. */
    private Optional<LogException> refusalNow(
            Core core, Request request, ClusterConfiguration current, ClusterConfiguration target, long nowMs) {
        if (request.knownIndex() < askedIndex) {
            return Optional.of(new ChangeOutcomeUnknownException(
                    "the members have been changed since this was asked for, so it is not made now; it may have been"
                            + " made, and undone, before"));
        }
        if (!request.change().force() && !checks.mayCommit(core, current, target, nowMs)) {
            return Optional.of(checks.noLiveMajority(core, current, target, nowMs));
        }
        return checks.movesRunning(core, request.change(), current, nowMs)
                ? Optional.of(MembershipChecks.stillRuns(request.change()))
                : Optional.empty();
    }

    private ClusterConfiguration apply(MembershipChange change, ClusterConfiguration current) {
        return change instanceof MembershipChange.Put put
                ? with(put.member(), current)
                : without(((MembershipChange.Remove) change).member(), current);
    }

    /** One that is no member is noted as removed: the operator's list may have it. */
    private static ClusterConfiguration without(int member, ClusterConfiguration current) {
        Map<Integer, EnsembleMember> members = new TreeMap<>(current.members());
        Set<Integer> voters = new TreeSet<>(current.voters());
        Set<Integer> removed = new TreeSet<>(current.removed());
        members.remove(member);
        voters.remove(member);
        removed.add(member);
        return new ClusterConfiguration(members, voters, Set.of(), Set.of(), removed);
    }

    private ClusterConfiguration with(EnsembleMember wanted, ClusterConfiguration current) {
        EnsembleMember known = current.members().get(wanted.id());
        long directory = known != null ? known.directory() : directories.getOrDefault(wanted.id(), 0L);
        Map<Integer, EnsembleMember> members = new TreeMap<>(current.members());
        members.put(wanted.id(), wanted.withDirectory(directory));
        Set<Integer> voters = new TreeSet<>(current.voters());
        if (wanted.observer()) {
            voters.remove(wanted.id());
        }
        Set<Integer> removed = new TreeSet<>(current.removed());
        removed.remove(wanted.id());
        return new ClusterConfiguration(members, voters, Set.of(), Set.of(), removed);
    }

    // ---- what goes by itself

    /** A voter first loses its vote; a learner's directory is the one that it shows. */
    private ClusterConfiguration withShownDirectories(ClusterConfiguration current) {
        Map<Integer, EnsembleMember> members = new TreeMap<>(current.members());
        Set<Integer> voters = new TreeSet<>(current.voters());
        for (EnsembleMember member : current.members().values()) {
            long shown = directories.getOrDefault(member.id(), 0L);
            if (member.id() == memberId || shown == 0 || shown == member.directory()) {
                continue;
            }
            forget(member.id());
            if (voters.remove(member.id())) {
                log.warn("member {} has another directory than before: its log is lost, it has no vote", member.id());
            } else {
                members.put(member.id(), member.withDirectory(shown));
            }
        }
        return current.with(members, voters);
    }

    /**
     * Takes in the members that are listed here and have shown themselves. One without an address takes the listed one.
     */
    private ClusterConfiguration withListed(ClusterConfiguration current) {
        Map<Integer, EnsembleMember> members = new TreeMap<>(current.members());
        for (EnsembleMember member : listed.values()) {
            EnsembleMember known = members.get(member.id());
            long shown = directories.getOrDefault(member.id(), 0L);
            if (known == null && shown != 0 && !current.removed().contains(member.id())) {
                members.put(member.id(), member.withDirectory(shown));
            } else if (known != null && !known.hasAddress()) {
                members.put(member.id(), known.withAddressesOf(member));
            }
        }
        return current.with(members, current.voters());
    }

    private ClusterConfiguration withVotes(Core core, CoreStatus status, long nowMs) {
        ClusterConfiguration current = status.configuration();
        if (current.voters().size() == current.members().size()) {
            return current;
        }
        Map<Integer, Long> matches = new HashMap<>();
        for (PeerStatus peer : core.peers()) {
            matches.put(peer.member(), peer.linked() ? peer.matchIndex() : -1);
        }
        Set<Integer> voters = new TreeSet<>(current.voters());
        for (EnsembleMember member : current.members().values()) {
            if (!member.observer() && !voters.contains(member.id()) && hasCaughtUp(member, matches, status, nowMs)) {
                voters.add(member.id());
            }
        }
        return current.with(current.members(), voters);
    }

    /** One on which the cluster began, or began anew after a disaster, is the only voter until others can vote. */
    private ClusterConfiguration withoutVotesOfObservers(Core core, ClusterConfiguration current, long nowMs) {
        Set<Integer> voters = new TreeSet<>(current.voters());
        current.members().values().stream()
                .filter(EnsembleMember::observer)
                .forEach(member -> voters.remove(member.id()));
        ClusterConfiguration target = current.with(current.members(), voters);
        return !voters.isEmpty() && checks.mayCommit(core, current, target, nowMs) ? target : current;
    }

    private boolean hasCaughtUp(EnsembleMember member, Map<Integer, Long> matches, CoreStatus status, long nowMs) {
        int id = member.id();
        if (member.directory() == 0 || directories.getOrDefault(id, 0L) != member.directory()) {
            return false;
        }
        Round round = rounds.computeIfAbsent(id, key -> new Round(status.commitIndex(), nowMs));
        if (!caughtUp.contains(id) && matches.getOrDefault(id, -1L) >= round.target()) {
            if (nowMs - round.beganMs() <= electionTimeoutMs) {
                caughtUp.add(id);
            } else {
                rounds.put(id, new Round(status.commitIndex(), nowMs));
            }
        }
        return caughtUp.contains(id);
    }
}
