package io.conclave.consensus.member;

import io.conclave.consensus.LogOptions;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.CoreRole;
import io.conclave.consensus.core.CoreStatus;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.Origin;
import io.conclave.consensus.store.LogStore.Appended;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What comes in to be proposed or read: from this member's queue and, on the leader, from the other members. On the
 * leader it goes into the core, in one batch a turn if it fits; elsewhere to the leader.
 */
final class Intake {
    private static final Logger log = LoggerFactory.getLogger(Intake.class);

    /** The leader that own proposals went to last, its term, and the link to it. */
    private record Target(int leader, long term, int link) {
        static final Target NONE = new Target(0, 0, 0);
    }

    private final LogOptions options;
    private final ProposalQueue queue;
    private final LogWriter writer;
    private final OutgoingMessages outgoing;
    private final Core core;
    private final OwnProposals own;
    private final PendingReads reads;

    /**
     * Taken from the queue and not numbered yet; more than a moment only while the store waits for its next segment.
     */
    private final List<ProposalQueue.Proposed> fresh = new ArrayList<>();

    private long freshBytes;

    /** On the leader: what goes into its next batches. */
    private final ProposalLine gathered;

    private final LargeEntryGate largeEntries;

    /** In this turn no large entry was proposed, and there was room: one write of them in a turn. */
    private boolean mayBeLarge;

    /** The number of the link to each linked member; links are counted from 1. */
    private final Map<Integer, Integer> linked = new HashMap<>();

    private int linkCount;
    private Target target = Target.NONE;
    private boolean full;
    private BooleanSupplier mayRefuse = () -> false;
    private BooleanSupplier othersWereTried = () -> false;

    /** The term whose leader has refused proposals of this member last. */
    private long refusedTerm;

    Intake(
            LogOptions options,
            ProposalQueue queue,
            LogWriter writer,
            OutgoingMessages outgoing,
            Core core,
            OwnProposals own,
            PendingReads reads) {
        this.options = options;
        this.queue = queue;
        this.writer = writer;
        this.outgoing = outgoing;
        this.core = core;
        this.own = own;
        this.reads = reads;
        this.gathered = new ProposalLine(options.largeEntryBytes());
        this.largeEntries = new LargeEntryGate(options.heartbeatMs());
    }

    /**
     * What was numbered and finds no room on the leader waits for room, or is refused while both of these are so.
     *
     * @param allKnow whether all members understand a refusal
     * @param tried whether leadership was offered to members that may have room
     */
    void refusesIf(BooleanSupplier allKnow, BooleanSupplier tried) {
        mayRefuse = allKnow;
        othersWereTried = tried;
    }

    /** There was no room for what is to be proposed here. */
    boolean isFull() {
        return full;
    }

    /** Something waits for the store. */
    boolean isHolding() {
        return !fresh.isEmpty();
    }

    /** What a former link may have lost of the refusals is said again. */
    void linked(int member) {
        linked.put(member, ++linkCount);
        if (core.role() == CoreRole.LEADER && mayRefuse.getAsBoolean()) {
            tellRefused(member, gathered.withoutEffect(member));
        }
    }

    void linkDown(int member) {
        linked.remove(member);
    }

    /** Whether there is a link to the member. */
    boolean isLinked(int member) {
        return linked.containsKey(member);
    }

    /**
     * The member's link to this one broke: it sends what it does not see applied again, so this would be there twice.
     */
    void inboundLost(int member) {
        gathered.forget(member);
    }

    // ---- from other members

    void forwarded(int from, List<LogEntry> entries) {
        CoreStatus status = core.status();
        if (status.role() != CoreRole.LEADER
                || !status.configuration().members().containsKey(from)) {
            return; // the sender will learn which member leads, or that it is a member, and send again
        }
        for (LogEntry entry : entries) {
            if (mayCome(from, entry)) {
                gathered.add(from, entry);
            } else {
                log.warn("member {} may not propose {}", from, entry);
            }
        }
    }

    private boolean mayCome(int from, LogEntry entry) {
        return switch (entry.kind()) {
            case STARTED -> {
                Optional<Started> started = Started.of(entry);
                yield started.isPresent() && started.get().member() == from;
            }
            case APPLICATION -> entry.origin().member() == from;
            case FEATURE_LEVEL -> entry.origin().member() == from && entry.payload().length == Integer.BYTES;
            default -> false;
        };
    }

    /** A leader, which may be this member, has no room for proposals of this one. */
    void refused(int leader, PeerMessage.Refusal refusal) {
        own.refused(leader, refusal.incarnation(), refusal.firstSequence(), refusal.lastSequence());
        if (own.awaitsRoom() && refusal.term() > refusedTerm && refusal.term() <= core.term()) {
            refusedTerm = refusal.term();
            log.warn("member {} leads, and its disk is full; writes are rejected until it has room", leader);
        }
    }

    // ---- from the queue

    /** Takes what has gathered in the queue, at most a batch's worth; returns whether there was anything. */
    boolean take(long nowMs) {
        mayBeLarge = true;
        boolean took = false;
        long budget = options.maxBatchBytes();
        while (true) {
            long before = freshBytes;
            took |= takeProposals(budget);
            budget -= freshBytes - before;
            if (!fresh.isEmpty() && !admit()) {
                return took;
            }
            if (!(queue.peek() instanceof ProposalQueue.Read)) {
                return took;
            }
            takeReads(nowMs);
            took = true;
        }
    }

    private boolean takeProposals(long budget) {
        if (!own.isStarted() || !fresh.isEmpty()) {
            return false;
        }
        while (queue.peek() instanceof ProposalQueue.Proposed next) {
            long bytes = (long) LogEntry.OVERHEAD_BYTES + next.bytes();
            if (freshBytes + bytes > budget && !(fresh.isEmpty() && budget == options.maxBatchBytes())) {
                break;
            }
            queue.poll();
            fresh.add(next);
            freshBytes += bytes;
        }
        return !fresh.isEmpty();
    }

    /** Numbers what was taken; if the leader has no room for it, holds it back or rejects it. */
    private boolean admit() {
        boolean refused = isRefused();
        boolean asksHere = core.role() == CoreRole.LEADER && !refused;
        Appended elsewhere = refused ? Appended.FULL : Appended.DONE;
        Appended room = asksHere ? writer.roomFor(fresh.size(), freshBytes) : elsewhere;
        if (room == Appended.WAIT) {
            return false;
        }
        for (ProposalQueue.Proposed proposed : fresh) {
            if (room == Appended.DONE) {
                own.add(proposed);
            } else {
                queue.reject(proposed, Rejection.DISK_FULL);
            }
        }
        if (asksHere) {
            full = room == Appended.FULL;
        }
        fresh.clear();
        freshBytes = 0;
        return true;
    }

    /** What was refused in this term still waits for room, and what comes now would stand behind it. */
    private boolean isRefused() {
        return own.awaitsRoom() && core.term() == refusedTerm;
    }

    /** Reads that came one behind the other share a request; a heartbeat has its own, for its note. */
    private void takeReads(long nowMs) {
        List<Runnable> barriers = new ArrayList<>();
        while (queue.peek() instanceof ProposalQueue.Read read) {
            queue.poll();
            if (read.barrier()) {
                barriers.add(read.action());
            } else {
                long id = reads.addNote(read.action(), read.bytes());
                core.readIndex(nowMs, id, read.note());
            }
        }
        if (!barriers.isEmpty()) {
            core.readIndex(nowMs, reads.addBarriers(barriers, own.lastNumber()), new byte[0]);
        }
    }

    // ---- to the leader

    /** Gives what there is to the leader. */
    void giveToLeader(long nowMs) {
        int leader = core.leader();
        boolean leads = core.role() == CoreRole.LEADER;
        int link = leads ? 0 : linked.getOrDefault(leader, 0);
        if (leader == 0 || (!leads && link == 0)) {
            return;
        }
        Target now = new Target(leader, core.term(), link);
        if (!now.equals(target)) {
            target = now;
            own.sendAgain();
        }
        if (leads) {
            propose(nowMs);
        } else {
            forward(leader);
        }
    }

    private void forward(int leader) {
        for (List<LogEntry> entries = own.next(core.leader(), core.term(), options.maxBatchBytes());
                !entries.isEmpty();
                entries = own.next(core.leader(), core.term(), options.maxBatchBytes())) {
            outgoing.send(leader, new PeerMessage.Forward(entries));
        }
    }

    private void propose(long nowMs) {
        for (List<LogEntry> entries = own.next(core.leader(), core.term(), options.maxBatchBytes());
                !entries.isEmpty();
                entries = own.next(core.leader(), core.term(), options.maxBatchBytes())) {
            entries.forEach(entry -> gathered.add(options.memberId(), entry));
        }
        boolean takes = core.takesProposals();
        while (takes && gathered.hasSmall()) {
            takes = proposeBatch(nowMs, gathered.nextSmall(options.maxBatchBytes())) != 0 || refuse();
        }
    }

    /**
     * On the leader: proposes large entries, at most once in a turn, when the turn has nothing else to do. What arrives
     * while they are written does not wait for more of them.
     */
    boolean giveLarge(long commitIndex, long nowMs) {
        if (!mayBeLarge || !isLargeDue(commitIndex, nowMs)) {
            return false;
        }
        mayBeLarge = false;
        long index = proposeBatch(nowMs, gathered.nextLarge(options.largeGroupBytes()));
        if (index != 0) {
            largeEntries.proposed(index, nowMs);
        }
        return index != 0 || refuse();
    }

    private boolean isLargeDue(long commitIndex, long nowMs) {
        return core.takesProposals() && gathered.hasLarge() && largeEntries.isOpen(core, commitIndex, nowMs);
    }

    /** Whether the next turn has something to propose that this one has left. */
    boolean hasMore(long commitIndex, long nowMs) {
        return isLargeDue(commitIndex, nowMs) || (core.takesProposals() && gathered.hasSmall());
    }

    /** When a large entry may be proposed that waits for others. */
    long nextTurnMs() {
        return mayBeLarge && core.takesProposals() && gathered.hasLarge() ? largeEntries.opensMs() : Long.MAX_VALUE;
    }

    /** Returns the index of its last entry; 0 if there is no room for it. */
    private long proposeBatch(long nowMs, List<LogEntry> batch) {
        Appended room = writer.roomFor(
                batch.size(),
                batch.stream().mapToLong(LogEntry::bytesWithOverhead).sum());
        full = room == Appended.FULL;
        if (room != Appended.DONE) {
            return 0;
        }
        gathered.remove();
        return core.propose(nowMs, options.wallClockMs().getAsLong(), batch);
    }

    /**
     * Gives up the batch that has just found no room, and tells the members whose it is; all that waits, if nothing of
     * the batch can be given up, since nothing gets past it. Returns whether there was anything, so that what is left
     * may fit.
     */
    private boolean refuse() {
        if (!full || !mayRefuse.getAsBoolean() || !othersWereTried.getAsBoolean()) {
            return false;
        }
        Map<Integer, List<Origin>> refused = gathered.refuse();
        if (refused.isEmpty()) {
            refused = gathered.refuseAll();
        }
        refused.forEach(this::tellRefused);
        return !refused.isEmpty();
    }

    private void tellRefused(int member, List<Origin> origins) {
        for (PeerMessage.Refusal refusal : PeerMessage.Refusal.of(core.term(), origins)) {
            if (member == options.memberId()) {
                refused(member, refusal);
            } else {
                outgoing.send(member, refusal);
            }
        }
    }

    /** This member leads no more: what it has not proposed goes to the next leader, from those whose it is. */
    void deposed() {
        gathered.clear();
        largeEntries.reset();
        target = Target.NONE;
        full = false;
    }

    /** The end: the outcome of what was numbered stays unknown, and the rest was certainly not applied. */
    void abandon(Rejection reason) {
        gathered.clear();
        fresh.forEach(proposed -> queue.reject(proposed, reason));
        fresh.clear();
        own.abandon();
    }
}
