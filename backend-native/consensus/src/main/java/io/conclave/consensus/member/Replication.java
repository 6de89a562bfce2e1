package io.conclave.consensus.member;

import io.conclave.consensus.DiskState;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.CoreOptions;
import io.conclave.consensus.core.CoreOutput;
import io.conclave.consensus.core.CoreRole;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.WrongDiskException;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.store.LogStore;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member at work. One turn: what gathered in the queue goes to the leader or, on the leader, into the core; then the
 * core's output is carried out, in its order, until there is none; then what is committed and durable here is applied,
 * and reads are released.
 */
final class Replication {
    private static final Logger log = LoggerFactory.getLogger(Replication.class);

    /** What a member works with. */
    record Surroundings(
            LogOptions options,
            ProposalQueue queue,
            LogStore store,
            PeerLinks links,
            StateMachine machine,
            LogListener listener,
            LongSupplier random) {}

    private final LogOptions options;
    private final ProposalQueue queue;
    private final LogStore store;
    private final PeerLinks links;
    private final OutgoingMessages outgoing;
    private final StateMachine machine;
    private final LogListener listener;
    private final int self;
    private final TurnTime time;

    private final LogApplier applier;
    private final OwnProposals own;
    private final PendingReads reads;
    private final Intake intake;
    private final TickRule ticks = new TickRule();
    private final RareWarnings complaints = new RareWarnings(log);
    private final PeerConflicts conflicts;
    private final ServingRule serving;
    private final MembershipKeeper membership;
    private final LeaderReport leadership;
    private final LeadershipTransfer transfer;
    private final SnapshotSender snapshotSender;
    private final SnapshotInstaller snapshotInstaller;
    private final LogWriter writer;
    private final Core core;
    private final Greetings greetings;
    private final Suspension suspension;
    private final ArrivedMessages arrived;
    private final OrderlyEnd orderlyEnd;

    /** The term in which the listener was informed that this member leads; 0 while it does not. */
    private long leadingTerm;

    /** What the core last said of its role. */
    private boolean leads;

    /** What recovery comes by was in force once: its members may be gone, and their addresses in use by others. */
    private boolean recovered;

    /** When the store is to leave a mark of where the log ends. */
    private long markDueMs;

    /** Recovers, and begins to follow. */
    Replication(Surroundings in, CoreFactory cores) throws IOException {
        options = in.options();
        queue = in.queue();
        store = in.store();
        links = in.links();
        outgoing = new OutgoingMessages(links);
        conflicts = new PeerConflicts(complaints, links, options.electionTimeoutMs());
        machine = in.machine();
        listener = in.listener();
        self = options.memberId();
        time = new TurnTime(options.monotonicMs());

        own = new OwnProposals(queue, self, in.random());
        reads = new PendingReads(queue, in.random().getAsLong());
        membership = new MembershipKeeper(self, options.members(), options.electionTimeoutMs());
        leadership = new LeaderReport(options.electionTimeoutMs());
        applier = new LogApplier(machine, self, own, this::configured);
        MemberRecovery recovery = new MemberRecovery(options, store, machine, applier);
        recovery.read();
        writer = new LogWriter(store, recovery.rest());
        core = cores.create(
                recovery.coreStart(),
                CoreOptions.DEFAULT
                        .withTimes(options.electionTimeoutMs(), options.heartbeatMs())
                        .withWindow(options.windowBytes()),
                in.random().getAsLong(),
                time.nowMs());
        recovery.remind(core);
        own.startedAs(recovery.start());
        markDueMs = time.nowMs() + options.electionTimeoutMs();
        greetings = new Greetings(core, applier, self, recovery.start());
        suspension = new Suspension(
                self,
                core,
                applier,
                recovery.start(),
                greetings,
                store,
                links,
                options.members().keySet(),
                2 * options.electionTimeoutMs());
        suspension.recover();
        outgoing.silentIf(suspension::isOn);
        intake = new Intake(options, queue, writer, outgoing, core, own, reads);
        serving = new ServingRule(time.nowMs(), options.stopServingAfterMs(), core, reads, listener::serving);
        transfer = new LeadershipTransfer(options.electionTimeoutMs());
        intake.refusesIf(
                () -> applier.featureLevel() >= PeerMessage.Refusal.FEATURE_LEVEL,
                () -> transfer.wasTriedForRoom(time.nowMs()));
        snapshotSender = new SnapshotSender(options, store, core, links, applier, queue::control, time::nowMs);
        arrived = new ArrivedMessages(core, store, listener, intake, greetings, conflicts, snapshotSender);
        orderlyEnd = new OrderlyEnd(options, store, queue, own, reads, intake, core, transfer);
        snapshotInstaller = new SnapshotInstaller(
                options,
                store,
                machine,
                core,
                applier,
                writer,
                own,
                serving,
                outgoing,
                time,
                queue::control,
                this::apply,
                this::announce);
        if (applier.index() > 0) {
            store.applied(applier.position(), machine::snapshot); // others may want a snapshot of what was recovered
        }
        links.identify(store.clusterId(), store.directory());
        recovered = true;
        announce(applier.configuration());
    }

    private void configured(ClusterConfiguration configuration) {
        membership.stir();
        announce(configuration);
    }

    private void announce(ClusterConfiguration configuration) {
        if (!configuration.members().isEmpty()) {
            if (recovered) {
                links.configured(configuration);
            }
            listener.configured(configuration);
        }
    }

    // ---- inputs

    void linked(int member, long directory) {
        time.read();
        core.linked(time.nowMs(), member, directory);
        if (directory == 0) {
            core.heard(member);
        } else {
            outgoing.send(member, greetings.to(member, directory)); // before anything else on this link
        }
        intake.linked(member);
        membership.linked(member, directory);
        snapshotSender.linked(member, directory);
    }

    void linkDown(int member) {
        membership.linkDown(member);
        intake.linkDown(member);
        snapshotSender.linkDown(member);
    }

    void inboundLost(int member) {
        time.read();
        suspension.inboundLost(member);
        core.linkLost(time.nowMs(), member);
        conflicts.linkLost(member);
        intake.inboundLost(member);
        snapshotSender.inboundLost(member);
    }

    void arrived(int from, long directory, PeerMessage message) throws IOException {
        time.read();
        if (suspension.isOn()) {
            suspension.arrived(from, directory, message);
            return;
        }
        try {
            arrived.take(time.nowMs(), from, directory, message);
        } catch (WrongDiskException e) {
            suspension.claimed(e);
            listener.suspended();
            serving.stop();
        }
    }

    void tell(int member, byte[] note) {
        outgoing.send(member, new PeerMessage.Note(note));
    }

    void change(MembershipChange change, long knownIndex, CompletableFuture<Long> done) {
        membership.request(change, knownIndex, done, core.status());
    }

    void transfer(int to, CompletableFuture<@Nullable Void> done) {
        transfer.begin(core, time.nowMs(), to, done);
    }

    // ---- the turn

    boolean turn() throws IOException {
        time.read();
        boolean worked = intake.take(time.nowMs());
        worked |= tick();
        store.tick(time.nowMs()); // each turn: a follower that hears its leader has no ticks
        markWhenIdle();
        warnIfNoLeader();
        boolean more = true;
        while (more) {
            intake.giveToLeader(time.nowMs());
            more = carryOut();
            if (!more) {
                outgoing.flushBeforeApplying(core.commitIndex() - applier.index());
                more = applyCommitted() || lookAfter() || intake.giveLarge(core.commitIndex(), time.nowMs());
            }
            worked |= more;
        }
        outgoing.flush();
        return worked;
    }

    /** Only after what has arrived is dealt with. */
    private boolean tick() throws IOException {
        if (suspension.isOn()) {
            suspension.look(time.nowMs());
            return false;
        }
        if (!ticks.isTime(time.nowMs(), core.nextTickMs(), isOnlyVoter())) {
            return false;
        }
        core.tick(time.nowMs(), options.wallClockMs().getAsLong());
        membership.stir();
        if (leads) {
            leadership.look(core, time.nowMs());
        }
        snapshotSender.tick(time.nowMs());
        return true;
    }

    /** A while after the last write: what is found torn after this is a write that came later. */
    private void markWhenIdle() throws IOException {
        if (time.nowMs() >= markDueMs) {
            markDueMs = Long.MAX_VALUE;
            store.markEnd();
        }
    }

    private void warnIfNoLeader() {
        if (core.leader() == 0 && time.nowMs() - core.status().heardLeaderMs() > 5 * options.electionTimeoutMs()) {
            String reason = noLeaderReason();
            complaints.tell(reason.isEmpty() ? "" : "there is no leader: " + reason);
        }
    }

    private String noLeaderReason() {
        return suspension.isOn() ? suspension.reason() : serving.noLeaderReason(time.nowMs());
    }

    private boolean carryOut() throws IOException {
        CoreOutput output = core.take();
        // first: leadership must be confirmed after the note was heard, not before
        output.notes().stream()
                .filter(note -> !listener.noted(note.from(), note.note()))
                .forEach(core::noteNotUnderstood);
        CoreOutput.Vote vote = output.vote();
        if (vote != null) {
            store.vote(vote.term(), vote.votedFor());
        }
        if (output.role() != null) {
            roleChanged(output.role());
        }
        for (CoreOutput.Envelope envelope : output.messages()) {
            outgoing.send(envelope.to(), envelope.message());
        }
        if (!output.append().isEmpty() || output.cutAfter() >= 0) {
            outgoing.flush(); // others write while this member does
        }
        boolean written = write(output);
        output.readIndexes().forEach(answer -> reads.known(answer.id(), answer.index()));
        for (int member : output.snapshotsWanted()) {
            snapshotSender.wanted(member, time.nowMs());
        }
        for (CoreOutput.ReceivedChunk chunk : output.chunks()) {
            snapshotInstaller.received(chunk);
        }
        if (output.caughtUp()) {
            store.caughtUp();
        }
        return written
                || vote != null
                || output.role() != null
                || !output.messages().isEmpty()
                || !output.notes().isEmpty()
                || !output.readIndexes().isEmpty();
    }

    private boolean write(CoreOutput output) throws IOException {
        if (output.cutAfter() >= 0) {
            writer.cutAfter(output.cutAfter());
        }
        writer.add(output.append());
        LogBatch last = writer.write(core.commitIndex());
        if (last == null) {
            return false;
        }
        core.durable(time.nowMs(), last.lastIndex(), last.term());
        markDueMs = time.nowMs() + options.electionTimeoutMs();
        return true;
    }

    private void roleChanged(CoreRole role) {
        long told = leadingTerm;
        if (told != 0) {
            leadingTerm = 0;
            queue.leads(0);
            listener.deposed();
        }
        if (leads || role != CoreRole.LEADER) {
            snapshotSender.clear();
            membership.deposed(core.status());
            intake.deposed();
        }
        leads = role == CoreRole.LEADER;
        leadership.roleChanged(leads, core, time.nowMs());
    }

    private boolean applyCommitted() {
        if (snapshotInstaller.isLoading() && (snapshotInstaller.load() || !core.mayApply())) {
            return !snapshotInstaller.isLoading();
        }
        boolean applied = false;
        long commitIndex = core.commitIndex();
        for (LogBatch batch = writer.nextCommitted(commitIndex);
                batch != null;
                batch = writer.nextCommitted(commitIndex)) {
            apply(batch);
            applied = true;
        }
        if (applied) {
            core.applied(applier.index());
        }
        if (own.takeGap()) {
            log.warn("proposals of this member were lost on the way to the leader; sending again");
            own.sendAgain();
        }
        reads.run(applier.index(), own.settled());
        return applied;
    }

    private void apply(LogBatch batch) {
        applier.apply(batch);
        tellLeading();
        store.applied(applier.position(), machine::snapshot);
    }

    private void tellLeading() {
        if (leadingTerm == 0 && core.role() == CoreRole.LEADER && applier.term() == core.term()) {
            leadingTerm = core.term();
            queue.leads(leadingTerm);
            membership.stir();
            listener.leading(leadingTerm);
        }
    }

    /** What follows from where things stand now; returns whether the core has something to say to it. */
    private boolean lookAfter() {
        boolean leadsNow = core.role() == CoreRole.LEADER;
        boolean acted = false;
        if (transfer.isRunning()) {
            transfer.look(self, core.status(), time.nowMs());
        }
        if (leadsNow) {
            acted = membership.keep(core, time.nowMs(), options.wallClockMs().getAsLong(), applier.configuration());
            acted |= (intake.isFull() || isStuck()) && transfer.beginForRoom(core, time.nowMs());
        }
        boolean belongs = applier.configuration().members().containsKey(self);
        boolean hasLeader = leadsNow ? leadingTerm != 0 : core.leader() != 0;
        boolean stuck = !belongs || isStuck() || snapshotInstaller.isLoading() || suspension.isOn();
        boolean reachesLeader = leadsNow || intake.isLinked(core.leader());
        boolean asked = serving.look(time.nowMs(), stuck, isOnlyVoter(), hasLeader, reachesLeader);
        complaints.tell(serving.unreachableLeader(time.nowMs()));
        return acted || asked;
    }

    /** Batches are here that cannot be written, so nothing is applied. */
    private boolean isStuck() {
        return writer.isHolding() && store.diskState() == DiskState.FULL;
    }

    // ---- where things stand

    /** Whether this member takes no part until it is known whether its disk was set back. */
    boolean isSuspended() {
        return suspension.isOn();
    }

    boolean isLeading() {
        return leadingTerm != 0;
    }

    boolean isOnlyVoter() {
        return applier.configuration().isOnlyVoter(self);
    }

    LogStatus status(LogRole role) {
        return new LogStatus(
                self,
                role,
                core.leader(),
                core.term(),
                core.lastIndex(),
                core.commitIndex(),
                applier.index(),
                applier.configuration(),
                applier.configurationIndex(),
                store.clusterId(),
                store.diskState(),
                snapshotInstaller.isLoading(),
                conflicts.count(),
                noLeaderReason(),
                leadership.present());
    }

    int featureLevel() {
        return applier.featureLevel();
    }

    /** Whether another turn should follow at once: the last one has left something to propose. */
    boolean hasMore() {
        return intake.hasMore(core.commitIndex(), time.nowMs());
    }

    long nextTurnMs() {
        long tickMs = suspension.isOn() ? suspension.nextLookMs() : ticks.timeMs(core.nextTickMs());
        long next = Math.min(Math.min(tickMs, intake.nextTurnMs()), serving.nextLookMs(isOnlyVoter()));
        return Math.min(Math.min(next, markDueMs), Math.min(transfer.deadlineMs(), orderlyEnd.deadlineMs()));
    }

    // ---- the end

    /** Whether this member, which is to close, may do so; asked in each turn. */
    boolean hasFinished() {
        return orderlyEnd.isReached(time.nowMs(), isOnlyVoter(), suspension.isOn());
    }

    void end(Rejection reason) {
        serving.stop();
        snapshotSender.clear();
        membership.deposed(core.status());
        transfer.abandon();
        reads.clear();
        intake.abandon(reason);
        snapshotInstaller.end();
    }
}
