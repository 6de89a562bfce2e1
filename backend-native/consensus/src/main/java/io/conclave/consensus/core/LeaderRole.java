package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.AppendReply;
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
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

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
    private final Followers followers;
    private final FollowerSender sender;
    private final Conflicts conflicts;
    private final ReadIndexRequests readIndexRequests;
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
        this.conflicts = conflicts;
        this.readIndexRequests = readIndexRequests;
        followers = new Followers(self, options, log, links);
        sender = new FollowerSender(term, options, outbox, log, followers);
        firstIndex = log.lastIndex() + 1;
    }

    /** @param wallMs the wall clock, here as elsewhere: a batch gets it as its time */
    void begin(long nowMs, long wallMs) {
        tickedMs = nowMs;
        adoptMembers(nowMs);
        append(nowMs, wallMs, List.of(new LogEntry(LogEntryKind.TERM, Origin.NONE, new byte[0])));
    }

    /** Follows the latest configuration. */
    private void adoptMembers(long nowMs) {
        followers.adoptMembers(nowMs);
        if (transfer.isRunning() && !followers.isSuccessor(transfer.successor())) {
            transfer.end();
        }
    }

    /** Notes what the members have acknowledged of what is committed; before what is known of them is forgotten. */
    void remember(Acknowledgements acknowledgements) {
        followers.remember(acknowledgements);
    }

    List<PeerStatus> peers() {
        return followers.statuses();
    }

    EntryPlace placeOf(int member) {
        return followers.placeOf(member);
    }

    boolean isWithVotersThatFollow(long earlier, long index, long sinceMs) {
        return followers.isWithVotersThatFollow(earlier, index, sinceMs);
    }

    boolean isBehind(int member) {
        return followers.isBehind(member);
    }

    boolean isTermCommitted() {
        return log.commitIndex() >= firstIndex;
    }

    /** Whether this member, if its log was cut, has everything again: what it commits is on its own disk as well. */
    boolean hasCaughtUp() {
        return isTermCommitted() && log.durableIndex() >= log.commitIndex();
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
        long index = followers.majorityIndex();
        if (index > log.commitIndex() && rules.mayCommit(log.window.termAt(index), term)) {
            log.commit(index);
            afterCommit(nowMs, wallMs);
        }
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
            followers.configurationCommitted(nowMs);
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
        if (!followers.hearsMajority(nowMs, patientSinceMs)) {
            return false;
        }
        transfer.tick(nowMs);
        followers.tick(nowMs);
        return true;
    }

    /** When a majority, this member included, was last heard. */
    long heardMajorityMs(long nowMs) {
        return followers.heardMajorityMs(nowMs);
    }

    long nextTickMs(long nowMs) {
        if (rounds.isWaiting() && rules.mayBeginReadIndex(isTermCommitted())) {
            return nowMs;
        }
        // however often it sends meanwhile: check quorum, and what the shell does at ticks, must not wait for a pause
        long dueMs = Math.min(tickedMs, followers.oldestSentMs()) + options.heartbeatMs();
        return transfer.isRunning() ? Math.min(dueMs, transfer.endsMs()) : dueMs;
    }

    // ---- links and answers

    void linked(long nowMs, int member) {
        followers.linkChanged(member);
        PeerProgress peer = followers.find(member);
        if (peer != null) {
            peer.relink(rounds.next());
            // one that needs a snapshot perhaps is heard first: it may need only what the files have
            boolean sending = peer.snapshotIndex > 0;
            peer.snapshotMs = nowMs - options.electionTimeoutMs() + (sending ? 0 : 2 * options.heartbeatMs());
        }
    }

    void linkLost(int member) {
        rounds.forget(member);
        followers.linkChanged(member);
        PeerProgress peer = followers.find(member);
        if (peer != null) {
            peer.linked = false;
        }
        if (member == transfer.successor()) {
            transfer.end();
        }
    }

    /** Whether this member still leads. */
    boolean receive(long nowMs, int from, AppendReply reply) {
        PeerProgress peer = followers.find(from);
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
        if (reply.accepted() && !followers.mayBeMatch(reply.matchIndex())) {
            conflicts.nonsense(from, "an acknowledgement of index " + reply.matchIndex() + ", where no batch ends");
            return true;
        }
        followers.answered(nowMs, peer, reply);
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

    void receive(long nowMs, int from, SnapshotReply reply) {
        PeerProgress peer = followers.find(from);
        if (peer == null) {
            return;
        }
        peer.heardMs = nowMs;
        peer.snapshotMs = nowMs;
        if (!followers.mayBeMatch(Math.min(reply.lastIndex(), log.lastIndex()))) {
            conflicts.nonsense(from, "a snapshot up to index " + reply.lastIndex() + ", where no batch ends");
        } else {
            followers.answered(nowMs, peer, reply);
        }
    }

    void snapshotSending(long nowMs, int to, long lastIndex, boolean failed) {
        followers.snapshotSending(nowMs, to, lastIndex, failed);
    }

    void appendStored(long nowMs, int to, long previousIndex, long previousTerm, List<LogBatch> batches) {
        sender.sendStored(nowMs, to, rounds.current(), previousIndex, previousTerm, batches);
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
        List<ReadIndexRounds.Round> confirmed = rounds.confirmed(number ->
                rules.isLeadershipConfirmed(log.configuration(), id -> followers.hasAcknowledged(id, number)));
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
        int best = followers.mostAdvanced(Set.of());
        if (!followers.isSuccessor(to == 0 ? best : to)) {
            return false;
        }
        transfer.begin(to, best, nowMs + options.electionTimeoutMs());
        return true;
    }

    /** The member does not stand for election now; if no other one does, this member goes on leading. */
    void declined(int member) {
        transfer.declined(member, followers::mostAdvanced);
    }

    private void tellSuccessor() {
        if (transfer.isUntold() && followers.matchOf(transfer.successor()) == log.lastIndex()) {
            outbox.send(transfer.successor(), new TimeoutNow(term));
            transfer.told();
        }
    }

    /** The cluster goes on without this member: one that has everything begins at once. */
    private void tellBest() {
        int best = followers.mostAdvanced(transfer.decliners());
        if (best != 0 && followers.matchOf(best) == log.lastIndex()) {
            outbox.send(best, new TimeoutNow(term));
        }
    }

    // ---- the end of a turn

    /**
     * Ends a turn: begins a round of read indexes, and sends to each member what is due.
     *
     * @return whether this member still leads: not once the configuration without it is committed
     */
    boolean flush(long nowMs) {
        answerReadIndexRequests();
        sender.sendAll(nowMs, rounds.current());
        log.trim(followers.neededAfter());
        tellSuccessor();
        if (removed) {
            tellBest();
        }
        return !removed;
    }
}
