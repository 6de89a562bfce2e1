package io.conclave.consensus.core;

import io.conclave.consensus.core.PeerMessage.Append;
import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.core.PeerMessage.Commit;
import io.conclave.consensus.core.PeerMessage.ConfirmReply;
import io.conclave.consensus.core.PeerMessage.ConfirmRequest;
import io.conclave.consensus.core.PeerMessage.Contradiction;
import io.conclave.consensus.core.PeerMessage.OfTerm;
import io.conclave.consensus.core.PeerMessage.SnapshotPiece;
import io.conclave.consensus.core.PeerMessage.SnapshotReply;
import io.conclave.consensus.core.PeerMessage.TimeoutNow;
import io.conclave.consensus.core.PeerMessage.VoteReply;
import io.conclave.consensus.core.PeerMessage.VoteRequest;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One member's part in consensus: Raft (Ongaro's thesis) with pre-vote, check quorum, joint consensus, learners, leadership
 * transfer and read index. Methods are inputs; {@link #take} gives what is to be done about them, and is to be called
 * until it is empty. Times are monotonic milliseconds of the caller's, which never go back. Not thread-safe; the same
 * inputs give the same outputs.
 *
 * <p>The first entry of a leader (TERM) and the second half of a change of voters are made by the core itself, with the
 * wall clock of the last {@link #tick}.
 */
public final class Core {
    /** How many election timeouts the only voter of a cluster waits for the others before it leads. */
    private static final int SOLE_VOTER_PATIENCE = 2;

    private final CoreOptions options;
    private final Rules rules;
    private final int self;
    private final Standing standing;
    private final Outbox outbox;
    private final MemberLog log;
    private final LinkedMembers links;
    private final Following following;
    private final ElectionTimer timer;
    private final Election election;
    private final ConfirmRequests confirms = new ConfirmRequests();
    private final Acknowledgements acknowledgements = new Acknowledgements();
    private long nowMs;
    private long wallMs;
    private String complaint = "";
    /** Whose append of which term this member has contradicted last. */
    private int contradictedLeader;

    private long contradictedTerm;
    private @Nullable Leadership leadership;

    /** A member that has recovered. */
    public Core(CoreOptions options, CoreStart start, RandomGenerator random, long nowMs) {
        this(options, start, random, nowMs, Rules.RAFT);
    }

    Core(CoreOptions options, CoreStart start, RandomGenerator random, long nowMs, Rules rules) {
        this.options = options;
        this.rules = rules;
        this.nowMs = nowMs;
        self = start.member();
        standing = new Standing(start);
        long lastIndex = start.rest().isEmpty()
                ? start.baseIndex()
                : start.rest().get(start.rest().size() - 1).lastIndex();
        outbox = new Outbox(standing.vote(), lastIndex, standing.isWeak());
        log = new MemberLog(start, options, outbox);
        links = new LinkedMembers(self, start.directory(), log.configurations, rules);
        following = new Following(log, rules, outbox);
        timer = new ElectionTimer(options, random, nowMs);
        following.begin(standing.term());
        election = new Election(
                start,
                nowMs + SOLE_VOTER_PATIENCE * options.electionTimeoutMs(),
                rules,
                standing,
                timer,
                log,
                following,
                links,
                outbox);
    }

    /**
     * Gives committed batches back that this member starts behind, so that it can send them to members that lag a little.
     * To be called before anything else, if at all.
     *
     * @param committed the last of them ends at the start's base
     * @param termBefore the term of the entry before the first of them
     * @param timestampBeforeMs the time of that
     */
    public void remember(List<LogBatch> committed, long termBefore, long timestampBeforeMs) {
        log.window.prepend(committed, termBefore, timestampBeforeMs);
    }

    /**
     * Time has passed: heartbeats, elections, check quorum. To be called every few milliseconds, or at {@link #nextTickMs};
     * what arrived before is to be given first, so that a pause of one's own does not look like the silence of others.
     *
     * @param timestampMs the wall clock
     */
    public void tick(long nowMs, long timestampMs) {
        this.nowMs = nowMs;
        wallMs = timestampMs;
        if (leadership != null) {
            leadership.tick(nowMs);
        } else if (election.tick(nowMs)) {
            lead();
        }
        if (standing.leader() != 0 && nowMs >= confirms.resendDueMs(options.electionTimeoutMs())) {
            sendConfirms();
        }
    }

    /** When {@link #tick} has something to do next, if nothing else happens. */
    public long nextTickMs() {
        if (leadership != null) {
            return leadership.nextTickMs(nowMs);
        }
        long dueMs = standing.leader() == 0 ? Long.MAX_VALUE : confirms.resendDueMs(options.electionTimeoutMs());
        return Math.min(dueMs, election.nextTickMs(nowMs));
    }

    /** A message of a member; those of former terms, strangers and nobody's business are ignored or answered as Raft has it. */
    public void receive(long nowMs, int from, PeerMessage message) {
        this.nowMs = nowMs;
        if (message instanceof OfTerm ofTerm && !rules.isPlausible(ofTerm.term(), standing.term())) {
            complaint = "member " + from + " speaks of term " + ofTerm.term() + ", but this member is in term "
                    + standing.term() + ": no election goes so far, so it is ignored. Restart member " + from
                    + "; if it says the same again, set its log aside";
            return;
        }
        if (message instanceof Append append) {
            receiveAppend(from, append);
        } else if (message instanceof AppendReply reply) {
            if (!leaveFor(reply.term()) && leadership != null && reply.term() == standing.term()) {
                leadership.receive(nowMs, from, reply);
                if (leadership != null) {
                    leadership.advance(nowMs);
                }
            }
        } else if (message instanceof Commit commit) {
            receiveCommit(from, commit);
        } else if (message instanceof VoteRequest request) {
            receiveVoteRequest(from, request);
        } else if (message instanceof VoteReply reply) {
            receiveVoteReply(from, reply);
        } else if (message instanceof SnapshotPiece piece) {
            receivePiece(from, piece);
        } else if (message instanceof SnapshotReply reply) {
            if (!leaveFor(reply.term()) && leadership != null && reply.term() == standing.term()) {
                leadership.receive(nowMs, from, reply);
            }
        } else if (message instanceof TimeoutNow timeout) {
            if (timeout.term() == standing.term()
                    && from == standing.leader()
                    && leadership == null
                    && election.succeed(nowMs)) {
                lead();
            }
        } else if (message instanceof ConfirmRequest request) {
            if (leadership != null) {
                leadership.confirm(from, request.id(), request.note());
            }
        } else if (message instanceof Contradiction contradiction) {
            receiveContradiction(from, contradiction);
        } else if (message instanceof ConfirmReply reply) {
            confirmed(reply.id(), reply.index());
        }
        checkFull();
    }

    /** The link from that member broke: what was sent to us after the last message received is lost. */
    public void linkLost(long nowMs, int from) {
        this.nowMs = nowMs;
        links.lost(from);
        if (leadership != null) {
            leadership.linkLost(nowMs, from);
        } else if (from == standing.leader()) {
            standing.follow(0); // what we ask for is sent again when it is heard again
            timer.leaderLost(nowMs);
        }
    }

    /**
     * A link to that member is up: what was sent to it before may be lost. The member says whose directory it has; a
     * leader treats one that is not the configured one as a learner without a log, until the configuration says so too.
     * To be called before anything is sent on the link.
     */
    public void linked(long nowMs, int to, long shownDirectory) {
        this.nowMs = nowMs;
        if (leadership != null) {
            leadership.remember(acknowledgements);
        }
        links.linked(to, shownDirectory);
        if (leadership != null) {
            leadership.linked(nowMs, to);
        } else if (to == standing.leader()) {
            sendConfirms();
        }
    }

    /** The member has said what it knows of this one, or has an empty directory: the only voter need not wait for it. */
    public void heard(int member) {
        election.heard(member);
    }

    /**
     * Up to where the member with that directory has what is committed, as far as it was acknowledged to this member in
     * this life; 0 if nothing is known.
     */
    public long acknowledgedIndex(int member, long itsDirectory) {
        return acknowledgements.of(member, itsDirectory);
    }

    /** The term of the entry at the end of a batch, if that is in memory; -1 otherwise. */
    public long termAt(long index) {
        return log.window.isBorder(index) ? log.window.termAt(index) : -1;
    }

    /** What was ignored since the last call, and why, in an operator's words; empty for nothing. */
    public String takeComplaint() {
        String last = complaint;
        complaint = "";
        return last;
    }

    /** Whether the member has shown another directory on the link to it: two processes go by its number, or it has just changed. */
    public boolean isAnother(int member, long itsDirectory) {
        return links.isAnother(member, itsDirectory);
    }

    /**
     * The leader's: makes the entries one batch of the log.
     *
     * @param timestampMs the wall clock; a time before the last batch's counts as that
     * @return the batch's last index
     * @throws IllegalStateException if this member does not take proposals: see {@link CoreStatus#takesProposals}
     */
    public long propose(long nowMs, long timestampMs, List<LogEntry> entries) {
        this.nowMs = nowMs;
        wallMs = timestampMs;
        if (leadership == null || leadership.isTransferring()) {
            throw new IllegalStateException("member " + self + " takes no proposals as " + standing);
        }
        return leadership.append(nowMs, entries);
    }

    /**
     * This member's log is durable up to here; the term tells a batch from one that has replaced it meanwhile. Never to be
     * said of batches that an output has had cut since they were given.
     */
    public void durable(long nowMs, long index, long batchTerm) {
        this.nowMs = nowMs;
        log.durable(index, batchTerm);
        following.durable();
        if (leadership != null) {
            leadership.advance(nowMs);
        }
        checkFull();
    }

    /** Batches up to here are applied; until then the core keeps them. */
    public void applied(long index) {
        log.applied(index);
    }

    /** Batches behind an index that is applied or more, up to another; for applying them. */
    public List<LogBatch> batches(long after, long upTo) {
        return log.window.after(after, Long.MAX_VALUE).stream()
                .takeWhile(batch -> batch.lastIndex() <= upTo)
                .toList();
    }

    /**
     * What a member asks of the leader: {@link PeerMessage.ConfirmRequest}; on whatever member, also without a leader.
     *
     * @param id must differ from all others of this life of the member
     */
    public void confirm(long nowMs, long id, byte[] note) {
        this.nowMs = nowMs;
        confirms.add(nowMs, id, note);
        if (standing.leader() != 0) {
            sendConfirm(id, note);
        }
    }

    /** Whether a snapshot would bring this member forward; to be asked again right before it is installed. */
    public boolean wantsSnapshot(long lastIndex, long lastTerm) {
        return rules.wantsSnapshot(lastIndex, lastTerm, log.commitIndex(), log.window);
    }

    /** A snapshot that is wanted is installed, durably: the log begins behind it. */
    public void installed(
            long nowMs,
            long lastIndex,
            long lastTerm,
            long timestampMs,
            ClusterConfiguration configuration,
            long configurationIndex) {
        this.nowMs = nowMs;
        if (!wantsSnapshot(lastIndex, lastTerm) || leadership != null) {
            throw new IllegalStateException("a snapshot up to " + lastIndex + " of term " + lastTerm
                    + " was installed over a log that ends at " + log.lastIndex() + ", committed "
                    + log.commitIndex());
        }
        log.install(lastIndex, lastTerm, timestampMs, configuration, configurationIndex);
        following.installed();
        if (standing.leader() != 0) {
            outbox.send(standing.leader(), new SnapshotReply(standing.term(), lastIndex, 0, true));
        }
    }

    /** Whether the batches behind the index, an earlier end of a batch, are kept in memory. */
    public boolean isInMemory(long afterIndex) {
        return afterIndex >= log.window.baseIndex();
    }

    /** The leader's: whether the member needs batches that are not kept in memory. */
    public boolean isBehind(int member) {
        return leadership != null && leadership.isBehind(member);
    }

    /** The leader's: the last place at which the member's log may be equal to this one's, as far as it said; else the start. */
    public EntryPlace placeOf(int member) {
        return leadership == null ? EntryPlace.START : leadership.placeOf(member);
    }

    /** The leader's: sends a member that is behind committed batches from elsewhere. */
    public void appendStored(long nowMs, int to, long previousIndex, long previousTerm, List<LogBatch> batches) {
        this.nowMs = nowMs;
        if (isBehind(to)) {
            leadershipFor("send").appendStored(nowMs, to, previousIndex, previousTerm, batches);
        }
    }

    /** The leader's: a snapshot of so many entries is being sent to the member, or the sending has failed. */
    public void snapshotSending(long nowMs, int to, long lastIndex, boolean failed) {
        this.nowMs = nowMs;
        if (leadership != null) {
            leadership.snapshotSending(nowMs, to, lastIndex, failed);
        }
    }

    /**
     * The leader's: hands leadership to the member, or to the most advanced voter if it is 0. Proposals are not taken meanwhile;
     * given up after an election timeout.
     *
     * @return false if there is nobody to hand it to (not a voter, not linked, or this member itself)
     * @throws IllegalStateException if this member does not lead
     */
    public boolean transfer(long nowMs, int to) {
        this.nowMs = nowMs;
        return leadershipFor("hand leadership over").transfer(nowMs, to);
    }

    /**
     * The leader's: begins a change of the configuration: new learners, removed members, other addresses, and who votes.
     * A voter's directory cannot change: it is made a learner first.
     *
     * @throws IllegalStateException if this member does not lead, or another change is under way, or nothing of this term is committed
     * @throws IllegalArgumentException if the target cannot be
     */
    public void reconfigure(long nowMs, long timestampMs, ClusterConfiguration target) {
        this.nowMs = nowMs;
        wallMs = timestampMs;
        leadershipFor("change the configuration").reconfigure(nowMs, target);
    }

    private Leadership leadershipFor(String what) {
        if (leadership == null) {
            throw new IllegalStateException("member " + self + " cannot " + what + " as " + standing);
        }
        return leadership;
    }

    /** What is to be done since the last call, in the order that {@link Output} says. */
    public Output take() {
        if (leadership != null) {
            leadership.flush(nowMs);
        }
        if (leadership == null) {
            following.flush(standing.term(), standing.leader());
            log.trim(Long.MAX_VALUE);
        }
        Output output = outbox.take(standing.vote(), log.commitIndex(), standing.role(), standing.isWeak());
        if (leadership != null) {
            leadership.notesGiven();
        }
        return output;
    }

    /** Where things stand. */
    public CoreStatus status() {
        return new CoreStatus(
                standing.role(),
                standing.term(),
                standing.leader(),
                log.commitIndex(),
                log.lastIndex(),
                leadership != null && leadership.isTermCommitted(),
                leadership != null && !leadership.isTransferring(),
                standing.isWeak(),
                log.configuration(),
                log.configurations.latestIndex(),
                log.configurationCommitted(),
                leadership == null ? timer.heardLeaderMs() : leadership.heardMajorityMs(nowMs));
    }

    /** What it is in its term; the same as in {@link #status}, which costs more. */
    public CoreRole role() {
        return standing.role();
    }

    /** Whether it leads, and is not about to hand leadership over. */
    public boolean takesProposals() {
        return leadership != null && !leadership.isTransferring();
    }

    /** Who leads in its term; 0 if it does not know. */
    public int leader() {
        return standing.leader();
    }

    /** The end of its log, durable or not. */
    public long lastIndex() {
        return log.lastIndex();
    }

    /** The present term. */
    public long term() {
        return standing.term();
    }

    /** Why nobody leads, as far as this member knows, in one sentence; empty if somebody does. */
    public String noLeaderReason(long nowAtMs) {
        return standing.leader() == 0 ? election.reason(nowAtMs) : "";
    }

    /** What the leader knows of the other members; empty elsewhere. */
    public List<PeerStatus> peers() {
        return leadership == null ? List.of() : leadership.peers();
    }

    // ---- following

    private void receiveAppend(int from, Append append) {
        if (append.term() < standing.term()) {
            outbox.send(from, new AppendReply(standing.term(), false, append.previousIndex(), 0, 0, append.round()));
            return;
        }
        long differing = following.contradiction(standing.term(), append);
        if (differing >= 0) {
            contradict(from, append.term(), differing);
        } else if (follow(from, append.term())) {
            following.receive(standing.term(), from, append);
        }
    }

    private void receiveCommit(int from, Commit commit) {
        if (commit.term() == standing.term() && standing.leader() == from && leadership == null) {
            timer.heardLeader(nowMs);
            following.committed(commit.commitIndex());
        }
    }

    private void receivePiece(int from, SnapshotPiece piece) {
        if (piece.term() < standing.term()) {
            outbox.send(from, new SnapshotReply(standing.term(), piece.lastIndex(), 0, false));
            return;
        }
        if (!follow(from, piece.term())) {
            return;
        }
        if (wantsSnapshot(piece.lastIndex(), piece.lastTerm())) {
            outbox.piece(from, piece);
        } else {
            outbox.send(from, new SnapshotReply(standing.term(), piece.lastIndex(), piece.length(), true));
        }
    }

    private void checkFull() {
        if (standing.isWeak()
                && (leadership == null
                        ? standing.leader() != 0 && following.isFullAgain(standing.term())
                        : leadership.isTermCommitted() && log.durableIndex() >= log.commitIndex())) {
            standing.strengthen();
        }
    }

    // ---- what cannot be

    /** A leader does not have what is committed here. */
    private void contradict(int from, long itsTerm, long index) {
        complain("member " + from + ", which leads in term " + itsTerm + ", has another entry at index " + index
                + " than this member, where it is committed");
        contradictedLeader = from;
        contradictedTerm = itsTerm;
        long there = index < log.window.baseIndex() ? log.window.termAt(log.commitIndex()) : log.window.termAt(index);
        outbox.send(from, new Contradiction(itsTerm, index, there));
    }

    private void receiveContradiction(int from, Contradiction contradiction) {
        if (leadership != null && contradiction.term() == standing.term()) {
            contradicted(from, contradiction.index());
        } else if ((from == contradictedLeader && contradiction.term() == contradictedTerm)
                || (from == standing.leader() && contradiction.term() == standing.term())) {
            throw new WrongDiskException(
                    "member " + from + " leads in term " + contradiction.term() + " by a majority, and this member has"
                            + " committed something else at index " + contradiction.index()
                            + ": its disk went back in time, or is another cluster's",
                    true);
        }
    }

    /**
     * This member leads, and another one has committed what it does not have. A majority that has acknowledged this term is
     * right; the only voter is not, since nobody else could have committed without it.
     */
    void contradicted(int from, long index) {
        complain("member " + from + " has committed another entry at index " + index
                + " than this member has, which leads in term " + standing.term());
        if (leadership != null && leadership.isTermCommitted()) {
            outbox.send(from, new Contradiction(standing.term(), index, -1));
        } else {
            stepDown();
        }
    }

    /** The only voter is wrong wherever others have committed something else: nothing is committed without it. */
    private void complain(String what) {
        complaint = what;
        ClusterConfiguration configuration = log.configuration();
        if (configuration.isOnlyVoter(self)) {
            throw new WrongDiskException(
                    what + ". This member is the only voter by its own log, so its disk went back in time", false);
        }
    }

    // ---- votes

    private void receiveVoteRequest(int from, VoteRequest request) {
        boolean hearsLeader = leadership != null || (standing.leader() != 0 && timer.hasHeardLeader(nowMs));
        boolean granted = false;
        if (!rules.refusesForLeader(hearsLeader, request.transfer())) {
            if (!request.pre()) {
                leaveFor(request.term());
            }
            granted = mayGrant(from, request);
        }
        if (granted && !request.pre()) {
            standing.voteFor(from);
            stepDown();
            timer.voted(nowMs);
        }
        long answered = granted ? request.term() : standing.term();
        outbox.send(from, new VoteReply(request.pre(), answered, granted, standing.isWeak(), standing.doubtTerm()));
    }

    private boolean mayGrant(int from, VoteRequest request) {
        boolean termFits = request.pre()
                ? request.term() > standing.term()
                : request.term() == standing.term() && rules.mayVoteFor(from, standing.votedFor());
        return termFits
                && rules.isAsked(request.voterDirectory(), links.directoryOf(self))
                && rules.isUpToDate(request, log.lastIndex(), log.window.lastTerm());
    }

    private void receiveVoteReply(int from, VoteReply reply) {
        if (!reply.granted()) {
            election.refused(from);
            leaveFor(reply.term());
        } else if (election.granted(nowMs, from, reply)) {
            lead();
        }
    }

    // ---- from one role to another

    /** Follows the leader; false if there is another one in its term, which is followed already. */
    private boolean follow(int newLeader, long itsTerm) {
        leaveFor(itsTerm);
        int leader = standing.leader();
        if (leadership != null || (leader != 0 && leader != newLeader)) {
            complain("members " + leader + " and " + newLeader + " both lead in term " + standing.term());
            return false;
        }
        if (standing.role() != CoreRole.FOLLOWER) {
            standing.become(CoreRole.FOLLOWER);
        }
        timer.heardLeader(nowMs);
        if (leader == 0) {
            standing.follow(newLeader);
            election.over();
            sendConfirms();
        }
        return true;
    }

    /** Leaves for a higher term; whether that was one. */
    private boolean leaveFor(long higherTerm) {
        if (higherTerm <= standing.term()) {
            return false;
        }
        standing.enter(higherTerm);
        stepDown();
        following.begin(standing.term());
        return true;
    }

    /** Becomes a follower without a leader. */
    void stepDown() {
        if (leadership != null) {
            timer.deposed(nowMs, leadership.heardMajorityMs(nowMs));
            leadership.remember(acknowledgements);
            leadership = null;
            following.begin(standing.term());
        }
        standing.become(CoreRole.FOLLOWER);
        standing.follow(0);
    }

    private void lead() {
        standing.become(CoreRole.LEADER);
        standing.follow(self);
        election.leads(standing.term());
        leadership = new Leadership(this, options, rules, outbox, log, links);
        leadership.begin(nowMs);
        sendConfirms();
    }

    // ---- confirmations that this member wants

    private void sendConfirms() {
        confirms.sendAll(nowMs, this::sendConfirm);
    }

    private void sendConfirm(long id, byte[] note) {
        if (leadership != null) {
            leadership.confirm(self, id, note);
        } else {
            outbox.send(standing.leader(), new ConfirmRequest(id, note));
        }
    }

    /** One of this member's requests is answered. */
    void confirmed(long id, long index) {
        if (confirms.answered(id)) {
            outbox.confirmed(id, index);
        }
    }

    // ---- what its leadership knows of it

    LogWindow logWindow() {
        return log.window;
    }

    int self() {
        return self;
    }

    long wallMs() {
        return wallMs;
    }
}
