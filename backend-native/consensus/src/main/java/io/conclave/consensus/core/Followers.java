package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.core.PeerMessage.SnapshotReply;
import io.conclave.consensus.entry.ClusterConfiguration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * What a leader knows of the other members in its term: what of its log each one has, when each was last heard, and so
 * what a majority has. It sends nothing.
 */
final class Followers {
    private final int self;
    private final CoreOptions options;
    private final MemberLog log;
    private final LinkedMembers links;
    private final Map<Integer, PeerProgress> peers = new TreeMap<>();
    private final PartingMembers parting = new PartingMembers();

    Followers(int self, CoreOptions options, MemberLog log, LinkedMembers links) {
        this.self = self;
        this.options = options;
        this.log = log;
        this.links = links;
    }

    /**
     * Keeps progress of exactly the members that the latest configuration has; those of an earlier one that may be in
     * force are parting.
     */
    void adoptMembers(long nowMs) {
        Set<Integer> members = log.configuration().members().keySet();
        for (int member : log.configurations.membersInForce()) {
            if (member != self && !members.contains(member) && links.isLinked(member) && !parting.contains(member)) {
                parting.add(member, progressOf(member, nowMs));
            }
        }
        peers.keySet().retainAll(members);
        for (int member : members) {
            if (member != self) {
                peers.computeIfAbsent(member, id -> progressOf(id, nowMs));
            }
        }
        parting.joined(members);
    }

    private PeerProgress progressOf(int member, long nowMs) {
        PeerProgress known = find(member);
        return known != null ? known : new PeerProgress(log.lastIndex() + 1, nowMs, links.isLinked(member));
    }

    /** Those whom the latest configuration has dropped are told so for an election timeout more. */
    void configurationCommitted(long nowMs) {
        parting.configurationCommitted(nowMs + options.electionTimeoutMs());
    }

    void tick(long nowMs) {
        parting.tick(nowMs);
    }

    /** What is known of one that is parting is of its link, which has broken or is another one. */
    void linkChanged(int member) {
        parting.linkChanged(member);
    }

    /** Null for a member that the configuration neither has nor has just dropped, and for this one. */
    @Nullable
    PeerProgress find(int member) {
        PeerProgress peer = peers.get(member);
        return peer != null ? peer : parting.find(member);
    }

    /** Of a member that the configuration has: what is counted. */
    private PeerProgress peer(int member) {
        return Objects.requireNonNull(peers.get(member), "no member of the configuration");
    }

    /** Those that are sent to: the other members, and those that are parting. */
    void forEach(BiConsumer<Integer, PeerProgress> action) {
        peers.forEach(action);
        parting.forEach(action);
    }

    /** When the one of them that has waited longest was sent something; the end of time if there are none. */
    long oldestSentMs() {
        long oldestMs = parting.oldestSentMs();
        for (PeerProgress peer : peers.values()) {
            oldestMs = Math.min(oldestMs, peer.sentMs);
        }
        return oldestMs;
    }

    /** Notes what the members have acknowledged of what is committed; before what is known of them is forgotten. */
    void remember(Acknowledgements acknowledgements) {
        peers.forEach((member, peer) ->
                acknowledgements.add(member, links.directoryOf(member), Math.min(peer.matchIndex, log.commitIndex())));
    }

    // ---- what a majority has

    /** The highest index that a majority has durably; of both sets of voters while they change. */
    long majorityIndex() {
        ClusterConfiguration configuration = log.configuration();
        long index = majorityIndex(configuration.voters());
        return configuration.isJoint() ? Math.min(index, majorityIndex(configuration.outgoing())) : index;
    }

    /** The highest index that a majority of them has durably. */
    private long majorityIndex(Set<Integer> voters) {
        return voters.isEmpty() ? 0 : reachedByMajority(voters, this::matchOf);
    }

    /** The highest value that a majority of them has, or more. Asked for several times a turn. */
    private static long reachedByMajority(Set<Integer> voters, IntToLongFunction value) {
        long[] values = new long[voters.size()];
        int count = 0;
        for (int voter : voters) {
            values[count++] = value.applyAsLong(voter);
        }
        Arrays.sort(values);
        return values[(count - 1) / 2];
    }

    /** The highest index up to which the voter's log is durable and counts; 0 if its directory is another. */
    long matchOf(int voter) {
        if (!links.isCounted(voter)) {
            return 0;
        }
        PeerProgress peer = peers.get(voter);
        return voter == self ? log.durableIndex() : peer == null ? 0 : peer.matchIndex;
    }

    /** Whether a majority that counts, this member included, was heard within an election timeout. */
    boolean hearsMajority(long nowMs, long patientSinceMs) {
        return log.configuration()
                .isMajority(id -> id == self
                        || (links.isCounted(id)
                                && nowMs - Math.max(peer(id).heardMs, patientSinceMs) < options.electionTimeoutMs()));
    }

    /** Whether the member has acknowledged a heartbeat of this round or a later one, and counts. */
    boolean hasAcknowledged(int member, long round) {
        return member == self || (links.isCounted(member) && peer(member).acknowledgedRound >= round);
    }

    /** When a majority, this member included, was last heard. */
    long heardMajorityMs(long nowMs) {
        ClusterConfiguration configuration = log.configuration();
        long heardMs = heardMs(configuration.voters(), nowMs);
        return configuration.isJoint() ? Math.min(heardMs, heardMs(configuration.outgoing(), nowMs)) : heardMs;
    }

    private long heardMs(Set<Integer> voters, long nowMs) {
        return reachedByMajority(voters, id -> id == self ? nowMs : peer(id).heardMs);
    }

    /** Batches up to here are not needed for those that are linked. */
    long neededAfter() {
        long neededAfter = Long.MAX_VALUE;
        for (PeerProgress peer : peers.values()) {
            if (peer.linked) {
                neededAfter = Math.min(neededAfter, peer.needsAfter());
            }
        }
        return neededAfter;
    }

    // ---- whom leadership may go to

    /** Whether leadership may be transferred to the member. */
    boolean isSuccessor(int member) {
        PeerProgress peer = peers.get(member);
        return peer != null && peer.linked && log.configuration().voters().contains(member) && links.isCounted(member);
    }

    /** The member with most of the log, of those that may lead and have not declined; 0 if there is none. */
    int mostAdvanced(Set<Integer> decliners) {
        int best = 0;
        for (int member : peers.keySet()) {
            if (isSuccessor(member) && !decliners.contains(member) && (best == 0 || matchOf(member) > matchOf(best))) {
                best = member;
            }
        }
        return best;
    }

    // ---- answers

    /** A follower acknowledges whole batches, as far as that can be seen. */
    boolean mayBeMatch(long index) {
        return index < log.window.baseIndex() || log.window.isBorder(index);
    }

    /** The member answers an append of this link. */
    void answered(long nowMs, PeerProgress peer, AppendReply reply) {
        boolean isFirst = peer.place.equals(EntryPlace.START);
        peer.linked = true;
        peer.acknowledgedRound = Math.max(peer.acknowledgedRound, reply.round());
        if (reply.accepted()) {
            accepted(peer, Math.min(reply.matchIndex(), log.lastIndex()));
        } else {
            peer.place = new EntryPlace(reply.hintIndex(), reply.hintTerm());
            if (peer.state == PeerProgress.State.SNAPSHOT && peer.snapshotIndex == 0 && isFirst) {
                peer.snapshotMs = nowMs - options.electionTimeoutMs();
            }
            refused(peer, reply);
        }
    }

    private void accepted(PeerProgress peer, long matchIndex) {
        peer.acknowledged(matchIndex);
        if (matchIndex > peer.place.index() && matchIndex >= log.window.baseIndex()) {
            peer.place = new EntryPlace(matchIndex, log.window.termAt(matchIndex));
        }
        if (peer.state == PeerProgress.State.PROBE) {
            peer.replicate();
        } else if (peer.state == PeerProgress.State.SNAPSHOT && matchIndex >= log.window.baseIndex()) {
            peer.probe(matchIndex + 1);
        }
    }

    /** An answer to an earlier append than the one that is waited for says nothing new. */
    private void refused(PeerProgress peer, AppendReply reply) {
        long refusedIndex = reply.matchIndex();
        boolean isNews = peer.state == PeerProgress.State.PROBE
                ? refusedIndex == peer.nextIndex - 1
                : peer.state == PeerProgress.State.REPLICATE && refusedIndex > peer.matchIndex;
        if (isNews) {
            long equal = log.window.borderAtOrBelow(Math.min(reply.hintIndex(), refusedIndex - 1), reply.hintTerm());
            peer.probe(Math.max(equal, peer.matchIndex) + 1);
        }
    }

    /** The member answers a part of a snapshot. */
    void answered(long nowMs, PeerProgress peer, SnapshotReply reply) {
        if (reply.installed() && peer.state == PeerProgress.State.SNAPSHOT) {
            peer.probe(Math.min(reply.lastIndex(), log.lastIndex()) + 1);
            if (reply.lastIndex() < log.window.baseIndex()) {
                peer.wantSnapshot(nowMs - options.electionTimeoutMs());
            }
        }
    }

    void snapshotSending(long nowMs, int to, long lastIndex, boolean failed) {
        PeerProgress peer = find(to);
        if (peer != null && peer.state == PeerProgress.State.SNAPSHOT) {
            peer.snapshotIndex = failed ? 0 : lastIndex;
            // after a failure the next one is asked for soon, not at once
            peer.snapshotMs = failed ? nowMs - options.electionTimeoutMs() + options.heartbeatMs() : nowMs;
        }
    }

    // ---- of one member

    EntryPlace placeOf(int member) {
        PeerProgress peer = find(member);
        return peer == null ? EntryPlace.START : peer.place;
    }

    /**
     * Whether all voters have it but those that catch up, have not even come to the earlier one, or were silent since
     * then.
     */
    boolean isWithVotersThatFollow(long earlier, long index, long sinceMs) {
        ClusterConfiguration configuration = log.configuration();
        return peers.entrySet().stream()
                .filter(peer -> configuration.isVoter(peer.getKey()))
                .map(Map.Entry::getValue)
                .noneMatch(peer -> peer.linked
                        && peer.state == PeerProgress.State.REPLICATE
                        && peer.heardMs >= sinceMs
                        && peer.matchIndex >= earlier
                        && peer.matchIndex < index);
    }

    boolean isBehind(int member) {
        PeerProgress peer = find(member);
        return peer != null && peer.state == PeerProgress.State.SNAPSHOT;
    }

    List<PeerStatus> statuses() {
        List<PeerStatus> statuses = new ArrayList<>();
        peers.forEach((id, peer) -> statuses.add(new PeerStatus(
                id,
                links.directoryOf(id),
                peer.linked,
                peer.matchIndex,
                peer.state == PeerProgress.State.SNAPSHOT,
                peer.heardMs)));
        return statuses;
    }
}
