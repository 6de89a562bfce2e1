package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * One member's part in consensus: Raft (Ongaro's thesis) with pre-vote, check quorum, joint consensus, learners,
 * leadership transfer and read index. Methods are inputs; {@link #take} gives what is to be done about them, and is to
 * be called until it is empty. Times are monotonic milliseconds of the caller's, which never decrease. Not thread-safe;
 * the same inputs give the same outputs.
 *
 * <p>The first entry of a leader (TERM) and the second half of a change of voters are made by the core itself, with the
 * wall clock of the last {@link #tick}.
 */
public final class Core {
    final RaftState raft;
    private final MessageHandler messages;

    /** A member that has recovered. */
    public Core(CoreOptions options, CoreStart start, RandomGenerator random, long nowMs) {
        this(options, start, random, nowMs, Rules.RAFT);
    }

    Core(CoreOptions options, CoreStart start, RandomGenerator random, long nowMs, Rules rules) {
        raft = new RaftState(options, start, random, nowMs, rules);
        messages = new MessageHandler(raft);
    }

    /**
     * Gives committed batches back that this member starts behind, so that it can send them to members that lag a
     * little. To be called before anything else, if at all.
     *
     * @param committed the last of them ends at the start's base
     * @param termBefore the term of the entry before the first of them
     * @param timestampBeforeMs the time of that
     */
    public void remember(List<LogBatch> committed, long termBefore, long timestampBeforeMs) {
        raft.log.window.prepend(committed, termBefore, timestampBeforeMs);
    }

    /**
     * Time has passed: heartbeats, elections, check quorum. To be called every few milliseconds, or at
     * {@link #nextTickMs}; what arrived before is to be given first, so that a pause of one's own does not look like
     * the silence of others.
     *
     * @param timestampMs the wall clock
     */
    public void tick(long nowMs, long timestampMs) {
        raft.nowMs = nowMs;
        raft.wallMs = timestampMs;
        LeaderRole leadership = raft.leadership();
        if (leadership != null) {
            raft.stillLeads(leadership.tick(nowMs));
        } else if (raft.election.tick(nowMs)) {
            raft.lead();
        }
        if (raft.termState.leader() != 0
                && nowMs >= raft.readIndexRequests.resendDueMs(raft.options.electionTimeoutMs())) {
            raft.sendReadIndexRequests();
        }
    }

    /** When {@link #tick} has something to do next, if nothing else happens. */
    public long nextTickMs() {
        LeaderRole leadership = raft.leadership();
        if (leadership != null) {
            return leadership.nextTickMs(raft.nowMs);
        }
        long dueMs = raft.termState.leader() == 0
                ? Long.MAX_VALUE
                : raft.readIndexRequests.resendDueMs(raft.options.electionTimeoutMs());
        return Math.min(dueMs, raft.election.nextTickMs(raft.nowMs));
    }

    /** A message of a member; those of former terms and of unknown members are ignored or answered as Raft has it. */
    public void receive(long nowMs, int from, PeerMessage message) {
        raft.nowMs = nowMs;
        messages.receive(from, message);
    }

    /** The leader wants this member to take over, and it is not to: it says so, and the leader asks another one. */
    public void decline(long nowMs, int from, PeerMessage.TimeoutNow timeout) {
        raft.nowMs = nowMs;
        messages.decline(from, timeout);
    }

    /** The link from that member broke: what was sent to us after the last message received is lost. */
    public void linkLost(long nowMs, int from) {
        raft.nowMs = nowMs;
        raft.links.lost(from);
        LeaderRole leadership = raft.leadership();
        if (leadership != null) {
            leadership.linkLost(from);
        } else if (from == raft.termState.leader()) {
            raft.termState.follow(0); // what we ask for is sent again when it is heard again
            raft.timer.leaderLost(nowMs);
        }
    }

    /**
     * A link to that member is up: what was sent to it before may be lost. The member says whose directory it has; a
     * leader treats one that is not the configured one as a learner without a log, until the configuration says so too.
     * To be called before anything is sent on the link.
     */
    public void linked(long nowMs, int to, long shownDirectory) {
        raft.nowMs = nowMs;
        raft.rememberAcknowledgements();
        raft.links.linked(to, shownDirectory);
        LeaderRole leadership = raft.leadership();
        if (leadership != null) {
            leadership.linked(nowMs, to);
        } else if (to == raft.termState.leader()) {
            raft.sendReadIndexRequests();
        }
    }

    /**
     * The member has said what it knows of this one, or has an empty directory: the only voter need not wait for it.
     */
    public void heard(int member) {
        raft.election.heard(member);
    }

    /**
     * Up to where the member with that directory has what is committed, as far as it was acknowledged to this member in
     * this start; 0 if nothing is known.
     */
    public long acknowledgedIndex(int member, long itsDirectory) {
        return raft.acknowledgedIndex(member, itsDirectory);
    }

    /** The term of the entry at the end of a batch, if that is in memory; -1 otherwise. */
    public long termAt(long index) {
        return raft.log.window.isBorder(index) ? raft.log.window.termAt(index) : -1;
    }

    /** What was ignored of a member's messages since the last call. */
    public Complaint takeComplaint() {
        return raft.conflicts.takeComplaint();
    }

    /**
     * Whether the member has shown another directory on the link to it: two processes go by its number, or it has just
     * changed.
     */
    public boolean isAnother(int member, long itsDirectory) {
        return raft.links.isAnother(member, itsDirectory);
    }

    /**
     * The leader's: makes the entries one batch of the log.
     *
     * @param timestampMs the wall clock; a time before the last batch's counts as that
     * @return the batch's last index
     * @throws IllegalStateException if this member does not take proposals: see {@link CoreStatus#takesProposals}
     */
    public long propose(long nowMs, long timestampMs, List<LogEntry> entries) {
        raft.nowMs = nowMs;
        raft.wallMs = timestampMs;
        LeaderRole leadership = raft.leadership();
        if (leadership == null || leadership.isTransferring()) {
            throw new IllegalStateException("member " + raft.self + " takes no proposals as " + raft.termState);
        }
        return leadership.append(nowMs, timestampMs, entries);
    }

    /**
     * This member's log is durable up to here; the term tells a batch from one that has replaced it meanwhile. Never to
     * be said of batches that an output has had cut since they were given.
     */
    public void durable(long nowMs, long index, long batchTerm) {
        raft.nowMs = nowMs;
        raft.log.durable(index, batchTerm);
        raft.following.durable();
        LeaderRole leadership = raft.leadership();
        if (leadership != null) {
            leadership.advance(nowMs, raft.wallMs);
        }
        raft.checkCaughtUp();
    }

    /**
     * Whether this member has the state that its log leads to. As long as it has not, it votes and acknowledges, but
     * does not stand for election: it could not serve, nor tell its server that it leads.
     */
    public void hasState(long nowMs, boolean value) {
        raft.nowMs = nowMs;
        raft.election.hasState(value);
        if (!value
                && (raft.termState.role() == CoreRole.PRE_CANDIDATE || raft.termState.role() == CoreRole.CANDIDATE)) {
            raft.stepDown();
        }
    }

    /** Whether batches may be applied, and reads released: not without the state that they belong to. */
    public boolean mayApply() {
        return raft.election.mayApply();
    }

    /** How many bytes of batches that are not needed any more are kept in memory. */
    public long tailBytes() {
        return raft.options.tailBytes();
    }

    /** Batches up to here are applied, or can be read from the files for that; until then the core keeps them. */
    public void applied(long index) {
        raft.log.applied(index);
    }

    /**
     * What a member asks of the leader: {@link PeerMessage.ReadIndexRequest}; on any member, also without a leader.
     *
     * @param id must differ from all others since the member's start
     */
    public void readIndex(long nowMs, long id, byte[] note) {
        raft.nowMs = nowMs;
        raft.readIndexRequests.add(nowMs, id, note);
        if (raft.termState.leader() != 0) {
            raft.sendReadIndexRequest(id, note);
        }
    }

    /** Whether a snapshot would bring this member forward; to be asked again right before it is installed. */
    public boolean wantsSnapshot(long lastIndex, long lastTerm) {
        return raft.following.wantsSnapshot(lastIndex, lastTerm);
    }

    /** A snapshot that is wanted is installed, durably: the log begins behind it. */
    public void installed(
            long nowMs,
            long lastIndex,
            long lastTerm,
            long timestampMs,
            ClusterConfiguration configuration,
            long configurationIndex) {
        raft.nowMs = nowMs;
        if (!wantsSnapshot(lastIndex, lastTerm) || raft.leadership() != null) {
            throw new IllegalStateException("a snapshot up to " + lastIndex + " of term " + lastTerm
                    + " was installed over a log that ends at " + raft.log.lastIndex() + ", committed "
                    + raft.log.commitIndex());
        }
        raft.log.install(lastIndex, lastTerm, timestampMs, configuration, configurationIndex);
        raft.following.installed(lastIndex);
    }

    /** Whether the batches behind the index, an earlier end of a batch, are kept in memory. */
    public boolean isInMemory(long afterIndex) {
        return afterIndex >= raft.log.window.baseIndex();
    }

    /** The leader's: whether the member needs batches that are not kept in memory. */
    public boolean isBehind(int member) {
        LeaderRole leadership = raft.leadership();
        return leadership != null && leadership.isBehind(member);
    }

    /**
     * The leader's: whether the entry is durable at all voters that get what is proposed as it comes, but for those
     * that have not even an earlier one, or were not heard since then.
     */
    public boolean isWithVotersThatFollow(long earlier, long index, long sinceMs) {
        LeaderRole leadership = raft.leadership();
        return leadership == null || leadership.isWithVotersThatFollow(earlier, index, sinceMs);
    }

    /**
     * The leader's: the last place at which the member's log may be equal to this one's, as far as it said; else the
     * start.
     */
    public EntryPlace placeOf(int member) {
        LeaderRole leadership = raft.leadership();
        return leadership == null ? EntryPlace.START : leadership.placeOf(member);
    }

    /** The leader's: sends a member that is behind committed batches from elsewhere. */
    public void appendStored(long nowMs, int to, long previousIndex, long previousTerm, List<LogBatch> batches) {
        raft.nowMs = nowMs;
        if (isBehind(to)) {
            raft.leadershipFor("send").appendStored(nowMs, to, previousIndex, previousTerm, batches);
        }
    }

    /** The leader's: a snapshot of so many entries is being sent to the member, or the sending has failed. */
    public void snapshotSending(long nowMs, int to, long lastIndex, boolean failed) {
        raft.nowMs = nowMs;
        LeaderRole leadership = raft.leadership();
        if (leadership != null) {
            leadership.snapshotSending(nowMs, to, lastIndex, failed);
        }
    }

    /**
     * The leader's: transfers leadership to the member, or to the most advanced voter if it is 0. Proposals are not
     * taken meanwhile; given up after an election timeout.
     *
     * @return false if there is no member to transfer it to (not a voter, not linked, or this member itself)
     * @throws IllegalStateException if this member does not lead
     */
    public boolean transfer(long nowMs, int to) {
        raft.nowMs = nowMs;
        return raft.leadershipFor("transfer leadership").transfer(nowMs, to);
    }

    /**
     * The leader's: begins a change of the configuration: new learners, removed members, other addresses, and other
     * voters. A voter's directory cannot change: it is made a learner first.
     *
     * @throws IllegalStateException if this member does not lead, or another change is under way, or nothing of
     *     this term is committed
     * @throws IllegalArgumentException if the target cannot be
     */
    public void reconfigure(long nowMs, long timestampMs, ClusterConfiguration target) {
        raft.nowMs = nowMs;
        raft.wallMs = timestampMs;
        raft.leadershipFor("change the configuration").reconfigure(nowMs, timestampMs, target);
    }

    /** The application did not understand a note that {@link #take} gave out: its request is not answered. */
    public void noteNotUnderstood(CoreOutput.Note note) {
        LeaderRole leadership = raft.leadership();
        if (leadership != null) {
            leadership.noteNotUnderstood(note.from(), note.id());
        }
    }

    /** What is to be done since the last call, in the order that {@link CoreOutput} says. */
    public CoreOutput take() {
        LeaderRole leadership = raft.leadership();
        if (leadership != null && !raft.stillLeads(leadership.flush(raft.nowMs))) {
            leadership = null;
        }
        if (leadership == null) {
            raft.following.flush();
            raft.log.trim(Long.MAX_VALUE);
        }
        CoreOutput output =
                raft.outbox.take(raft.termState.vote(), raft.termState.role(), raft.termState.isProvisional());
        if (leadership != null) {
            leadership.notesGiven();
        }
        return output;
    }

    /** Where things stand. */
    public CoreStatus status() {
        LeaderRole leadership = raft.leadership();
        return new CoreStatus(
                raft.termState.role(),
                raft.termState.term(),
                raft.termState.leader(),
                raft.log.commitIndex(),
                raft.log.lastIndex(),
                leadership != null && leadership.isTermCommitted(),
                takesProposals(),
                raft.termState.isProvisional(),
                raft.log.configuration(),
                raft.log.configurations.latestIndex(),
                raft.log.configurationCommitted(),
                leadership == null ? raft.timer.heardLeaderMs() : leadership.heardMajorityMs(raft.nowMs));
    }

    /** What it is in its term; the same as in {@link #status}, which costs more. */
    public CoreRole role() {
        return raft.termState.role();
    }

    /** Whether it leads, and is not about to transfer leadership. */
    public boolean takesProposals() {
        LeaderRole leadership = raft.leadership();
        return leadership != null && !leadership.isTransferring();
    }

    /** The leader of its term; 0 if it does not know. */
    public int leader() {
        return raft.termState.leader();
    }

    /** The end of its log, durable or not. */
    public long lastIndex() {
        return raft.log.lastIndex();
    }

    /** What is known to be committed, and is in its log, durable or not. */
    public long commitIndex() {
        return raft.log.commitIndex();
    }

    /** The present term. */
    public long term() {
        return raft.termState.term();
    }

    /** Why there is no leader, as far as this member knows, in one sentence; empty if there is one. */
    public String noLeaderReason(long nowAtMs) {
        return raft.termState.leader() == 0 ? raft.election.reason(nowAtMs) : "";
    }

    /** What the leader knows of the other members; empty elsewhere. */
    public List<PeerStatus> peers() {
        LeaderRole leadership = raft.leadership();
        return leadership == null ? List.of() : leadership.peers();
    }

    // ---- a disk that is said to have been set back

    /** This member neither leads nor follows; its caller gives it no messages and no time from now on. */
    public void suspend() {
        if (!takesPartSuspected()) {
            raft.stepDown();
        }
    }

    /** Whether a member whose disk is said to have been set back takes part. */
    public boolean takesPartSuspected() {
        return raft.rules.takesPart(true);
    }

    /** Whether a log that is committed up to there has all that this one may have committed. */
    public boolean isCoveredBy(long commitTerm, long commitIndex) {
        long lastTerm = raft.log.window.lastTerm();
        return commitTerm > lastTerm || (commitTerm == lastTerm && commitIndex >= raft.log.lastIndex());
    }

    /** Whether the others can do without this member's log; see {@link Rules#mayGiveUpLog}. */
    public boolean mayGiveUpLog(ClusterConfiguration committed, Set<Integer> voters, Set<Integer> later) {
        return raft.rules.mayGiveUpLog(committed, raft.self, voters, later);
    }
}
