package io.conclave.consensus.member;

import io.conclave.consensus.DiskState;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.Proposal;
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
import io.conclave.consensus.entry.Origin;
import io.conclave.consensus.store.IncomingSnapshot;
import io.conclave.consensus.store.LogStore;
import io.conclave.consensus.store.SnapshotPosition;
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

    private final LogApplier applier;
    private final OwnProposals own;
    private final PendingReads reads;
    private final Intake intake;
    private final TickRule ticks = new TickRule();
    private final RareWarnings complaints = new RareWarnings(log);
    private final PeerConflicts conflicts;
    private final ServingRule serving;
    private final MembershipKeeper membership;
    private final LeadershipTransfer transfer;
    private final SnapshotSender snapshotSender;
    private final SnapshotReceiver snapshotReceiver;
    private final LogWriter writer;
    private final StateLoader loader;
    private final Core core;
    private final Greetings greetings;
    private final Suspension suspension;
    private final ArrivedMessages arrived;
    private final OrderlyEnd orderlyEnd;

    private long nowMs;

    /** The term in which the listener was informed that this member leads; 0 while it does not. */
    private long leadingTerm;

    /** What the core last said of its role. */
    private boolean leads;

    /** When the store is to leave a mark of where the log ends. */
    private long markDueMs;

    /** Recovers, and begins to follow. */
    static Replication recover(Surroundings in, CoreFactory cores) throws IOException {
        return new Replication(in, cores);
    }

    private Replication(Surroundings in, CoreFactory cores) throws IOException {
        options = in.options();
        queue = in.queue();
        store = in.store();
        links = in.links();
        outgoing = new OutgoingMessages(links);
        conflicts = new PeerConflicts(complaints, links, options.electionTimeoutMs());
        machine = in.machine();
        listener = in.listener();
        self = options.memberId();
        nowMs = options.monotonicMs().getAsLong();

        own = new OwnProposals(queue, self, in.random());
        reads = new PendingReads(queue, in.random().getAsLong());
        membership = new MembershipKeeper(self, options.members(), options.electionTimeoutMs());
        applier = new LogApplier(machine, self, new ApplyListener());
        MemberRecovery recovery = new MemberRecovery(options, store, machine, applier);
        recovery.read();
        writer = new LogWriter(store, recovery.rest());
        core = cores.create(
                recovery.coreStart(),
                CoreOptions.DEFAULT
                        .withTimes(options.electionTimeoutMs(), options.heartbeatMs())
                        .withWindow(options.windowBytes()),
                in.random().getAsLong(),
                nowMs);
        recovery.remind(core);
        own.startedAs(recovery.start());
        markDueMs = nowMs + options.electionTimeoutMs();
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
        serving = new ServingRule(options.stopServingAfterMs(), core, reads, listener::serving);
        transfer = new LeadershipTransfer(options.electionTimeoutMs());
        snapshotSender = new SnapshotSender(options, store, core, links, applier, queue::control, () -> nowMs);
        arrived = new ArrivedMessages(core, store, listener, intake, greetings, conflicts, snapshotSender);
        orderlyEnd = new OrderlyEnd(options, store, queue, own, reads, intake, core, transfer);
        snapshotReceiver = new SnapshotReceiver(store, options.background(), options.diskRetryMs(), new Receiving());
        loader = new StateLoader(
                store,
                machine,
                applier,
                writer,
                options.background(),
                queue::control,
                batches -> batches.forEach(this::apply));
        if (applier.index() > 0) {
            store.applied(applier.position(), machine::snapshot); // others may want a snapshot of what was recovered
        }
        links.identify(store.clusterId(), store.directory());
        announce(applier.configuration());
    }

    private void announce(ClusterConfiguration configuration) {
        if (!configuration.members().isEmpty()) {
            links.configured(configuration);
            listener.configured(configuration);
        }
    }

    // ---- inputs

    void linked(int member, long directory) {
        nowMs = options.monotonicMs().getAsLong();
        core.linked(nowMs, member, directory);
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
        nowMs = options.monotonicMs().getAsLong();
        suspension.inboundLost(member);
        core.linkLost(nowMs, member);
        conflicts.linkLost(member);
        intake.inboundLost(member);
        snapshotSender.inboundLost(member);
    }

    void arrived(int from, long directory, PeerMessage message) throws IOException {
        nowMs = options.monotonicMs().getAsLong();
        if (suspension.isOn()) {
            suspension.arrived(from, directory, message);
            return;
        }
        try {
            arrived.take(nowMs, from, directory, message);
        } catch (WrongDiskException e) {
            suspension.claimed(e);
            serving.stop();
        }
    }

    void tell(int member, byte[] note) {
        outgoing.send(member, new PeerMessage.Note(note));
    }

    void change(MembershipChange change, CompletableFuture<@Nullable Void> done) {
        membership.request(change, done, core.status());
    }

    void transfer(int to, CompletableFuture<@Nullable Void> done) {
        transfer.begin(core, nowMs, to, done);
    }

    // ---- the turn

    boolean turn() throws IOException {
        nowMs = options.monotonicMs().getAsLong();
        boolean worked = intake.take(nowMs);
        worked |= tick();
        store.tick(nowMs); // each turn: a follower that hears its leader has no ticks
        markWhenIdle();
        boolean more = true;
        while (more) {
            intake.giveToLeader(nowMs);
            more = carryOut();
            if (!more) {
                outgoing.flushBeforeApplying(core.commitIndex() - applier.index());
                more = applyCommitted() || lookAfter() || intake.giveLarge(core.commitIndex(), nowMs);
            }
            worked |= more;
        }
        outgoing.flush();
        return worked;
    }

    /** Only after what has arrived is dealt with. */
    private boolean tick() throws IOException {
        if (suspension.isOn()) {
            suspension.look(nowMs);
            return false;
        }
        if (!ticks.isTime(nowMs, core.nextTickMs(), isOnlyVoter())) {
            return false;
        }
        core.tick(nowMs, options.wallClockMs().getAsLong());
        membership.stir();
        snapshotSender.tick(nowMs);
        return true;
    }

    /** A while after the last write: what is found torn after this is a write that came later. */
    private void markWhenIdle() throws IOException {
        if (nowMs >= markDueMs) {
            markDueMs = Long.MAX_VALUE;
            store.markEnd();
        }
        if (core.leader() == 0 && nowMs - core.status().heardLeaderMs() > 5 * options.electionTimeoutMs()) {
            complaints.tell(noLeader(noLeaderReason()));
        }
    }

    private String noLeaderReason() {
        return suspension.isOn() ? suspension.reason() : core.noLeaderReason(nowMs);
    }

    private static String noLeader(String reason) {
        return reason.isEmpty() ? "" : "there is no leader: " + reason;
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
            snapshotSender.wanted(member, nowMs);
        }
        for (CoreOutput.ReceivedChunk chunk : output.chunks()) {
            snapshotReceiver.received(chunk.from(), chunk.chunk());
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
        core.durable(nowMs, last.lastIndex(), last.term());
        markDueMs = nowMs + options.electionTimeoutMs();
        return true;
    }

    private void roleChanged(CoreRole role) {
        long told = leadingTerm;
        if (told != 0) {
            leadingTerm = 0;
            listener.deposed();
        }
        if (leads || role != CoreRole.LEADER) {
            snapshotSender.clear();
            membership.deposed(core.status());
            intake.deposed();
        }
        leads = role == CoreRole.LEADER;
    }

    private boolean applyCommitted() {
        if (loader.isLoading() && (load() || !core.mayApply())) {
            return !loader.isLoading();
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

    /** Nothing is applied or read, and no client is served, before the state of an installed snapshot is here. */
    private boolean load() {
        boolean loaded = loader.goOn(core.commitIndex(), core.tailBytes());
        core.applied(Math.max(writer.leftIndex(), applier.index()));
        if (loaded) {
            store.applied(applier.position(), machine::snapshot); // the one that was received may be damaged by now
            core.hasState(nowMs, true);
        }
        return loaded;
    }

    private void tellLeading() {
        if (leadingTerm == 0 && core.role() == CoreRole.LEADER && applier.term() == core.term()) {
            leadingTerm = core.term();
            membership.stir();
            listener.leading(leadingTerm);
        }
    }

    /** What follows from where things stand now; returns whether the core has something to say to it. */
    private boolean lookAfter() {
        boolean leads = core.role() == CoreRole.LEADER;
        boolean acted = false;
        if (transfer.isRunning()) {
            transfer.look(self, core.status(), nowMs);
        }
        if (leads) {
            acted = membership.keep(core, nowMs, options.wallClockMs().getAsLong(), applier.configuration());
            acted |= (intake.isFull() || isStuck()) && transfer.beginForRoom(core, nowMs);
        }
        boolean belongs = applier.configuration().members().containsKey(self);
        boolean hasLeader = leads ? leadingTerm != 0 : core.leader() != 0;
        boolean stuck = !belongs || isStuck() || loader.isLoading() || suspension.isOn();
        boolean asked = serving.look(nowMs, stuck, isOnlyVoter(), hasLeader);
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
        ClusterConfiguration configuration = applier.configuration();
        return configuration.voters().size() == 1 && configuration.voters().contains(self) && !configuration.isJoint();
    }

    LogStatus status(LogRole role, LogStore from) {
        return new LogStatus(
                self,
                role,
                core.leader(),
                core.term(),
                core.lastIndex(),
                core.commitIndex(),
                applier.index(),
                applier.configuration(),
                from.clusterId(),
                from.diskState(),
                loader.isLoading(),
                conflicts.count(),
                noLeaderReason());
    }

    int featureLevel() {
        return applier.featureLevel();
    }

    /** Whether another turn should follow at once: the last one has left something to propose. */
    boolean hasMore() {
        return intake.hasMore(core.commitIndex(), nowMs);
    }

    long nextTurnMs() {
        long tickMs = suspension.isOn() ? suspension.nextLookMs() : ticks.timeMs(core.nextTickMs());
        long next = Math.min(Math.min(tickMs, intake.nextTurnMs()), serving.nextLookMs(isOnlyVoter()));
        return Math.min(Math.min(next, markDueMs), Math.min(transfer.deadlineMs(), orderlyEnd.deadlineMs()));
    }

    // ---- the end

    /** Whether this member, which is to close, may do so; asked in each turn. */
    boolean hasFinished() {
        return orderlyEnd.isReached(nowMs, isOnlyVoter(), suspension.isOn());
    }

    void end(Rejection reason) {
        serving.stop();
        snapshotSender.clear();
        membership.deposed(core.status());
        transfer.abandon();
        reads.clear();
        intake.abandon(reason);
        loader.end();
    }

    // ---- what the parts say

    private final class ApplyListener implements LogApplier.ApplyListener {
        @Override
        public @Nullable Proposal accepted(Origin origin) {
            return own.accepted(origin);
        }

        @Override
        public void discarded(Origin origin) {
            own.discarded(origin);
        }

        @Override
        public void started(Started started, long index) {
            own.started(started, index);
        }

        @Override
        public void configured(ClusterConfiguration configuration) {
            own.configured(configuration);
            membership.stir();
            announce(configuration);
        }
    }

    private final class Receiving implements SnapshotReceiver.Receiving {
        @Override
        public void send(int to, PeerMessage.SnapshotReply reply) {
            outgoing.send(to, reply);
            outgoing.flush();
        }

        @Override
        public void toMember(Runnable action) {
            queue.control(action);
        }

        @Override
        public long nowMs() {
            return nowMs;
        }

        @Override
        public boolean wants(long lastIndex, long lastTerm) {
            return lastIndex > applier.index() && core.wantsSnapshot(lastIndex, lastTerm);
        }

        @Override
        public void install(IncomingSnapshot snapshot, SnapshotPosition position) throws IOException {
            installSnapshot(snapshot, position);
        }
    }

    /** The leader is answered at once: the log is durable here, and that is what it counts. The state follows. */
    private void installSnapshot(IncomingSnapshot snapshot, SnapshotPosition position) throws IOException {
        nowMs = options.monotonicMs().getAsLong();
        log.info("installing a snapshot of {} entries; {} were applied", position.lastIndex(), applier.index());
        serving.stop();
        snapshot.install();
        loader.begin(snapshot);
        applier.restore(position);
        writer.restart(position.lastIndex());
        own.installed(applier.proposer(self));
        core.hasState(nowMs, false);
        core.installed(
                nowMs,
                position.lastIndex(),
                position.term(),
                position.timestampMs(),
                position.state().configuration(),
                position.state().configurationIndex());
        announce(position.state().configuration());
    }
}
