package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.Append;
import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.core.PeerMessage.Commit;
import io.conclave.consensus.core.PeerMessage.Contradiction;
import io.conclave.consensus.core.PeerMessage.ReadIndexReply;
import io.conclave.consensus.core.PeerMessage.SnapshotReply;
import io.conclave.consensus.core.PeerMessage.TimeoutNow;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.ConfigurationCodec;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.Origin;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntToLongFunction;

/**
 * One term of leading: replication, commit, read indexes, transfer and changes of the configuration. It does not end
 * the term itself: what may end it returns whether this member still leads, and the caller steps down if it does not.
 */
final class LeaderRole {
    private final int self;
    private final long term;
    private final CoreOptions options;
    private final Rules rules;
    private final Outbox outbox;
    private final MemberLog log;
    private final LinkedMembers links;
    private final Conflicts conflicts;
    private final ReadIndexRequests readIndexRequests;
    private final Map<Integer, PeerProgress> peers = new TreeMap<>();
    private final ReadIndexRounds rounds = new ReadIndexRounds();
    /** The index of this term's first entry. */
    private final long firstIndex;

    private final Transfer transfer = new Transfer();
    private long tickedMs;
    /** From when on the silence of others counts against this leader. */
    private long patientSinceMs;
    /** The configuration without this member is committed. */
    private boolean removed;

    /** @param readIndexRequests this member's own, which its leadership answers too */
    LeaderRole(
            int self,
            long term,
            CoreOptions options,
            Rules rules,
            Outbox outbox,
            MemberLog log,
            LinkedMembers links,
            Conflicts conflicts,
            ReadIndexRequests readIndexRequests) {
        this.self = self;
        this.term = term;
        this.options = options;
        this.rules = rules;
        this.outbox = outbox;
        this.log = log;
        this.links = links;
        this.conflicts = conflicts;
        this.readIndexRequests = readIndexRequests;
        firstIndex = log.lastIndex() + 1;
    }

    /** @param wallMs the wall clock, here as elsewhere: a batch gets it as its time */
    void begin(long nowMs, long wallMs) {
        tickedMs = nowMs;
        adoptMembers(nowMs);
        append(nowMs, wallMs, List.of(new LogEntry(LogEntryKind.TERM, Origin.NONE, new byte[0])));
    }

    /** Keeps progress of exactly the members that the latest configuration has. */
    private void adoptMembers(long nowMs) {
        Set<Integer> members = log.configuration().members().keySet();
        peers.keySet().retainAll(members);
        for (int member : members) {
            if (member != self) {
                peers.computeIfAbsent(member, id -> new PeerProgress(log.lastIndex() + 1, nowMs, links.isLinked(id)));
            }
        }
        if (transfer.isRunning() && !isSuccessor(transfer.successor())) {
            transfer.end();
        }
    }

    private PeerProgress peer(int member) {
        return Objects.requireNonNull(peers.get(member), "no member of the configuration");
    }

    /** Notes what the members have acknowledged of what is committed; before what is known of them is forgotten. */
    void remember(Acknowledgements acknowledgements) {
        peers.forEach((member, peer) ->
                acknowledgements.add(member, links.directoryOf(member), Math.min(peer.matchIndex, log.commitIndex())));
    }

    boolean isTermCommitted() {
        return log.commitIndex() >= firstIndex;
    }

    // ---- the log

    long append(long nowMs, long wallMs, List<LogEntry> entries) {
        long timestampMs = Math.max(wallMs, log.window.lastTimestampMs());
        LogBatch batch = new LogBatch(term, log.lastIndex() + 1, timestampMs, entries);
        log.append(batch);
        if (log.configurations.latestIndex() >= batch.firstIndex()) {
            adoptMembers(nowMs);
        }
        return batch.lastIndex();
    }

    /** Commits what has become durable on a majority. */
    void advance(long nowMs, long wallMs) {
        ClusterConfiguration configuration = log.configuration();
        long index = majorityIndex(configuration.voters());
        if (configuration.isJoint()) {
            index = Math.min(index, majorityIndex(configuration.outgoing()));
        }
        if (index > log.commitIndex() && rules.mayCommit(log.window.termAt(index), term)) {
            log.commit(index);
            afterCommit(nowMs, wallMs);
        }
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

    private long matchOf(int voter) {
        if (!links.isCounted(voter)) {
            return 0;
        }
        PeerProgress peer = peers.get(voter);
        return voter == self ? log.durableIndex() : peer == null ? 0 : peer.matchIndex;
    }

    private void afterCommit(long nowMs, long wallMs) {
        if (!log.configurationCommitted() || !isTermCommitted()) {
            return;
        }
        ClusterConfiguration configuration = log.configuration();
        if (configuration.isJoint()) {
            Map<Integer, EnsembleMember> members = new TreeMap<>(configuration.members());
            members.keySet().removeAll(configuration.leaving());
            appendConfiguration(nowMs, wallMs, configuration.with(members, configuration.voters()));
        } else {
            removed = !configuration.isVoter(self);
        }
    }

    private void appendConfiguration(long nowMs, long wallMs, ClusterConfiguration configuration) {
        append(
                nowMs,
                wallMs,
                List.of(new LogEntry(
                        LogEntryKind.CONFIGURATION, Origin.NONE, ConfigurationCodec.encode(configuration))));
    }

    void reconfigure(long nowMs, long wallMs, ClusterConfiguration target) {
        ClusterConfiguration current = log.configuration();
        if (!isTermCommitted() || !log.configurationCommitted() || current.isJoint() || isTransferring()) {
            throw new IllegalStateException("the configuration cannot be changed now: "
                    + (isTermCommitted()
                            ? "another change is under way"
                            : "nothing of term " + term + " is committed"));
        }
        ConfigurationChange.check(current, target);
        appendConfiguration(
                nowMs, wallMs, rules.needsJoint(current, target) ? ConfigurationChange.joint(current, target) : target);
    }

    // ---- time

    /** Whether this member still leads: not if a majority has been silent for too long. */
    boolean tick(long nowMs) {
        if (nowMs - tickedMs > options.electionTimeoutMs() / 2) {
            patientSinceMs = nowMs; // a member that was not asked while this one stood still could not answer
        }
        tickedMs = nowMs;
        if (!log.configuration()
                .isMajority(id -> id == self
                        || (links.isCounted(id)
                                && nowMs - Math.max(peer(id).heardMs, patientSinceMs) < options.electionTimeoutMs()))) {
            return false;
        }
        transfer.tick(nowMs);
        return true;
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

    long nextTickMs(long nowMs) {
        if (rounds.isWaiting() && rules.mayBeginReadIndex(isTermCommitted())) {
            return nowMs;
        }
        // however often it sends meanwhile: check quorum, and what the shell does at ticks, must not wait for a pause
        long dueMs = tickedMs + options.heartbeatMs();
        for (PeerProgress peer : peers.values()) {
            dueMs = Math.min(dueMs, peer.sentMs + options.heartbeatMs());
        }
        return transfer.isRunning() ? Math.min(dueMs, transfer.endsMs()) : dueMs;
    }

    // ---- links and answers

    void linked(long nowMs, int member) {
        PeerProgress peer = peers.get(member);
        if (peer != null) {
            peer.relink(rounds.next());
            // one that needs a snapshot perhaps is heard first: it may need only what the files have
            boolean sending = peer.snapshotIndex > 0;
            peer.snapshotMs = nowMs - options.electionTimeoutMs() + (sending ? 0 : 2 * options.heartbeatMs());
        }
    }

    void linkLost(long nowMs, int member) {
        rounds.forget(member);
        PeerProgress peer = peers.get(member);
        if (peer != null) {
            peer.linked = false;
        }
        if (member == transfer.successor()) {
            transfer.end();
        }
    }

    /** Whether this member still leads. */
    boolean receive(long nowMs, int from, AppendReply reply) {
        PeerProgress peer = peers.get(from);
        if (peer == null) {
            return true;
        }
        peer.heardMs = nowMs;
        if (!rules.isOfThisLink(reply.round(), peer.firstRound)) {
            return true;
        }
        if (reply.accepted() && rules.isBeyond(reply.matchIndex(), log.lastIndex())) {
            return contradicted(from, reply.matchIndex());
        }
        if (reply.accepted() && !mayBeMatch(reply.matchIndex())) {
            conflicts.nonsense(from, "an acknowledgement of index " + reply.matchIndex() + ", where no batch ends");
            return true;
        }
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
        return true;
    }

    /**
     * Another member has committed what this one does not have. A majority that has acknowledged this term is right;
     * the only voter is not, since nothing could have been committed without it.
     *
     * @return whether this member still leads
     */
    boolean contradicted(int from, long index) {
        conflicts.contradictedBy(from, index);
        if (isTermCommitted()) {
            outbox.send(from, new Contradiction(term, index, -1));
            return true;
        }
        return false;
    }

    /** A follower acknowledges whole batches, as far as that can be seen. */
    private boolean mayBeMatch(long index) {
        return index < log.window.baseIndex() || log.window.isBorder(index);
    }

    EntryPlace placeOf(int member) {
        PeerProgress peer = peers.get(member);
        return peer == null ? EntryPlace.START : peer.place;
    }

    private void accepted(PeerProgress peer, long matchIndex) {
        peer.acknowledged(matchIndex);
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

    void receive(long nowMs, int from, SnapshotReply reply) {
        PeerProgress peer = peers.get(from);
        if (peer == null) {
            return;
        }
        peer.heardMs = nowMs;
        peer.snapshotMs = nowMs;
        if (!mayBeMatch(Math.min(reply.lastIndex(), log.lastIndex()))) {
            conflicts.nonsense(from, "a snapshot up to index " + reply.lastIndex() + ", where no batch ends");
        } else if (reply.installed() && peer.state == PeerProgress.State.SNAPSHOT) {
            peer.probe(Math.min(reply.lastIndex(), log.lastIndex()) + 1);
            if (reply.lastIndex() < log.window.baseIndex()) {
                peer.wantSnapshot(nowMs - options.electionTimeoutMs());
            }
        }
    }

    boolean isBehind(int member) {
        PeerProgress peer = peers.get(member);
        return peer != null && peer.state == PeerProgress.State.SNAPSHOT;
    }

    void appendStored(long nowMs, int to, long previousIndex, long previousTerm, List<LogBatch> batches) {
        sendAppend(nowMs, to, peer(to), previousIndex, previousTerm, batches);
    }

    void snapshotSending(long nowMs, int to, long lastIndex, boolean failed) {
        PeerProgress peer = peers.get(to);
        if (peer != null && peer.state == PeerProgress.State.SNAPSHOT) {
            peer.snapshotIndex = failed ? 0 : lastIndex;
            // after a failure the next one is asked for soon, not at once
            peer.snapshotMs = failed ? nowMs - options.electionTimeoutMs() + options.heartbeatMs() : nowMs;
        }
    }

    // ---- read indexes

    void readIndex(int from, long id, byte[] note) {
        boolean isNew = rounds.add(new ReadIndexRounds.Request(from, id), note.length > 0);
        if (isNew && note.length > 0) {
            outbox.note(from, id, note);
        }
    }

    void noteNotUnderstood(int from, long id) {
        rounds.refuse(new ReadIndexRounds.Request(from, id));
    }

    void notesGiven() {
        rounds.notesGiven();
    }

    private void answerReadIndexRequests() {
        if (rounds.isWaiting() && rules.mayBeginReadIndex(isTermCommitted())) {
            rounds.begin(log.commitIndex());
        }
        List<ReadIndexRounds.Round> confirmed = rounds.confirmed(number -> rules.isLeadershipConfirmed(
                log.configuration(),
                id -> id == self || (links.isCounted(id) && peer(id).acknowledgedRound >= number)));
        for (ReadIndexRounds.Round round : confirmed) {
            for (ReadIndexRounds.Request request : round.requests()) {
                if (request.from() == self) {
                    readIndexRequests.answered(request.id(), round.readIndex());
                } else {
                    outbox.send(request.from(), new ReadIndexReply(term, request.id(), round.readIndex()));
                }
            }
        }
    }

    // ---- transfer

    boolean isTransferring() {
        return transfer.isRunning();
    }

    boolean transfer(long nowMs, int to) {
        int best = mostAdvanced(Set.of());
        if (!isSuccessor(to == 0 ? best : to)) {
            return false;
        }
        transfer.begin(to, best, nowMs + options.electionTimeoutMs());
        return true;
    }

    private boolean isSuccessor(int member) {
        PeerProgress peer = peers.get(member);
        return peer != null && peer.linked && log.configuration().voters().contains(member) && links.isCounted(member);
    }

    /** The member with most of the log, of those that may lead and have not declined; 0 if there is none. */
    private int mostAdvanced(Set<Integer> decliners) {
        int best = 0;
        for (int member : peers.keySet()) {
            if (isSuccessor(member) && !decliners.contains(member) && (best == 0 || matchOf(member) > matchOf(best))) {
                best = member;
            }
        }
        return best;
    }

    /** The member does not stand for election now; if no other one does, this member goes on leading. */
    void declined(int member) {
        transfer.declined(member, this::mostAdvanced);
    }

    private void tellSuccessor() {
        if (transfer.isUntold() && matchOf(transfer.successor()) == log.lastIndex()) {
            outbox.send(transfer.successor(), new TimeoutNow(term));
            transfer.told();
        }
    }

    /** The cluster goes on without this member: one that has everything begins at once. */
    private void tellBest() {
        int best = mostAdvanced(transfer.decliners());
        if (best != 0 && matchOf(best) == log.lastIndex()) {
            outbox.send(best, new TimeoutNow(term));
        }
    }

    // ---- sending

    /**
     * Ends a turn: begins a round of read indexes, and sends to each member what is due.
     *
     * @return whether this member still leads: not once the configuration without it is committed
     */
    boolean flush(long nowMs) {
        answerReadIndexRequests();
        long neededAfter = Long.MAX_VALUE;
        long silenceMs = heartbeatAfterMs(nowMs);
        for (Map.Entry<Integer, PeerProgress> entry : peers.entrySet()) {
            PeerProgress peer = entry.getValue();
            send(nowMs, entry.getKey(), peer, silenceMs);
            if (peer.linked) {
                neededAfter = Math.min(neededAfter, peer.needsAfter());
            }
        }
        log.trim(neededAfter);
        tellSuccessor();
        if (removed) {
            tellBest();
        }
        return !removed;
    }

    /**
     * After how long a silence a member gets a heartbeat in this turn: when one is due for anybody, the others get
     * theirs, too, so that this member is not woken for each of them.
     */
    private long heartbeatAfterMs(long nowMs) {
        for (PeerProgress peer : peers.values()) {
            if (nowMs - peer.sentMs >= options.heartbeatMs()) {
                return options.heartbeatMs() / 2;
            }
        }
        return options.heartbeatMs();
    }

    private void send(long nowMs, int to, PeerProgress peer, long silenceMs) {
        if (peer.state != PeerProgress.State.SNAPSHOT && peer.nextIndex - 1 < log.window.baseIndex()) {
            peer.wantSnapshot(nowMs - options.electionTimeoutMs());
        }
        boolean sent = false;
        switch (peer.state) {
            case PROBE -> sent = probe(nowMs, to, peer);
            case REPLICATE -> sent = replicate(nowMs, to, peer);
            case SNAPSHOT -> askForSnapshot(nowMs, to, peer);
        }
        if (!sent && (peer.sentRound < rounds.current() || nowMs - peer.sentMs >= silenceMs)) {
            long previous = peer.state == PeerProgress.State.SNAPSHOT ? log.window.baseIndex() : peer.nextIndex - 1;
            sendAppend(nowMs, to, peer, previous, log.window.termAt(previous), List.of());
        } else if (peer.state == PeerProgress.State.REPLICATE && peer.sentCommitIndex < log.commitIndex()) {
            // no heartbeat, for it is not answered: one of those comes in its time anyway
            outbox.send(to, new Commit(term, log.commitIndex()));
            peer.sentCommitIndex = log.commitIndex();
        }
    }

    private boolean probe(long nowMs, int to, PeerProgress peer) {
        if (peer.probing) {
            return false;
        }
        peer.probing = true;
        sendNext(nowMs, to, peer, nextBatches(peer));
        return true;
    }

    private boolean replicate(long nowMs, int to, PeerProgress peer) {
        boolean sent = false;
        while (peer.nextIndex <= log.lastIndex() && peer.hasRoom(options)) {
            List<LogBatch> batches = nextBatches(peer);
            long bytes = batches.stream().mapToLong(LogWindow::bytesOf).sum();
            sendNext(nowMs, to, peer, batches);
            peer.sent(batches.get(batches.size() - 1).lastIndex(), bytes);
            sent = true;
        }
        return sent;
    }

    private List<LogBatch> nextBatches(PeerProgress peer) {
        return log.window.after(peer.nextIndex - 1, options.appendBytes());
    }

    private void askForSnapshot(long nowMs, int to, PeerProgress peer) {
        if (nowMs - peer.snapshotMs >= options.electionTimeoutMs()) {
            peer.snapshotMs = nowMs;
            outbox.snapshotWanted(to);
        }
    }

    private void sendNext(long nowMs, int to, PeerProgress peer, List<LogBatch> batches) {
        long previous = peer.nextIndex - 1;
        sendAppend(nowMs, to, peer, previous, log.window.termAt(previous), batches);
    }

    private void sendAppend(
            long nowMs, int to, PeerProgress peer, long previous, long previousTerm, List<LogBatch> batches) {
        outbox.send(to, new Append(term, previous, previousTerm, log.commitIndex(), rounds.current(), batches));
        peer.sentMs = nowMs;
        peer.sentCommitIndex = log.commitIndex();
        peer.sentRound = rounds.current();
    }

    List<PeerStatus> peers() {
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
