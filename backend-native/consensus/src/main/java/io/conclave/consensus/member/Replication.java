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
import io.conclave.consensus.core.CoreRole;
import io.conclave.consensus.core.Output;
import io.conclave.consensus.core.PeerMessage;
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
 * core's output is carried out, in its order, until there is none; then what is committed and durable here is applied, and
 * reads are released.
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
    private final ServingRule serving;
    private final MembershipKeeper membership;
    private final Handover handover;
    private final SnapshotSender snapshotSender;
    private final SnapshotReceiver snapshotReceiver;
    private final LogWriter writer;
    private final Core core;
    private final Greetings greetings;

    private long nowMs;
    private long commitIndex;

    /** The term in which the listener was told that this member leads; 0 while it does not. */
    private long leadingTerm;

    /** What the core last said of its role. */
    private boolean leads;

    /** When the store is to leave a mark of where the log ends. */
    private long markDueMs;

    private long closeDeadlineMs = Long.MAX_VALUE;

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
        machine = in.machine();
        listener = in.listener();
        self = options.memberId();
        nowMs = options.monotonicMs().getAsLong();

        own = new OwnProposals(queue, self, in.random());
        reads = new PendingReads(queue, in.random().getAsLong());
        membership = new MembershipKeeper(self, options.members(), options.electionTimeoutMs());
        applier = new LogApplier(machine, self, new Witness());
        MemberRecovery recovery = new MemberRecovery(options, store, machine, applier);
        recovery.read();
        writer = new LogWriter(store, applier.index(), recovery.rest());
        commitIndex = applier.index();
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
        intake = new Intake(options, queue, writer, outgoing, core, own, reads);
        serving = new ServingRule(options.stopServingAfterMs(), core, reads, listener::serving);
        handover = new Handover(options.electionTimeoutMs());
        snapshotSender = new SnapshotSender(options, store, core, links, applier, queue::control, () -> nowMs);
        snapshotReceiver =
                new SnapshotReceiver(store, machine, options.background(), options.diskRetryMs(), new Receiving());
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
        core.linkLost(nowMs, member);
        intake.inboundLost(member);
        snapshotSender.inboundLost(member);
    }

    void arrived(int from, long directory, PeerMessage message) {
        nowMs = options.monotonicMs().getAsLong();
        if (isAnswer(message) && core.isAnother(from, directory)) {
            log.debug("ignoring {} of member {}: its directory is not the one that it shows", message, from);
            return;
        }
        if (message instanceof PeerMessage.Forward forward) {
            intake.forwarded(from, forward.entries());
            return;
        }
        if (message instanceof PeerMessage.Note note) {
            listener.told(from, note.bytes());
            return;
        }
        if (message instanceof PeerMessage.Greeting greeting) {
            greetings.from(from, greeting);
            return;
        }
        if (message instanceof PeerMessage.TimeoutNow && store.diskState() == DiskState.FULL) {
            return; // a member that cannot write would not lead for long
        }
        core.receive(nowMs, from, message);
        complaints.tell(core.takeComplaint());
        if (message instanceof PeerMessage.SnapshotReply reply) {
            snapshotSender.answered(from, reply, nowMs);
        } else if (message instanceof PeerMessage.AppendReply reply) {
            snapshotSender.answered(from, reply, nowMs);
        }
    }

    /** What is counted for the directory that it comes from; whoever loses it is asked again on the next link. */
    private static boolean isAnswer(PeerMessage message) {
        return message instanceof PeerMessage.AppendReply
                || message instanceof PeerMessage.VoteReply
                || message instanceof PeerMessage.SnapshotReply;
    }

    void tell(int member, byte[] note) {
        outgoing.send(member, new PeerMessage.Note(note));
    }

    void change(MembershipChange change, CompletableFuture<@Nullable Void> done) {
        membership.request(change, done, core.status());
    }

    void transfer(int to, CompletableFuture<@Nullable Void> done) {
        handover.begin(core, nowMs, to, done);
    }

    // ---- the turn

    boolean turn() throws IOException {
        nowMs = options.monotonicMs().getAsLong();
        boolean worked = intake.take(nowMs);
        worked |= tick();
        markWhenIdle();
        boolean more = true;
        while (more) {
            intake.handOver(nowMs);
            more = carryOut();
            if (!more) {
                outgoing.flushBeforeApplying(commitIndex - applier.index());
                more = applyCommitted() || lookAfter();
            }
            worked |= more;
        }
        outgoing.flush();
        return worked;
    }

    /** Only after what has arrived is dealt with. */
    private boolean tick() throws IOException {
        if (!ticks.isTime(nowMs, core.nextTickMs(), isOnlyVoter())) {
            return false;
        }
        core.tick(nowMs, options.wallClockMs().getAsLong());
        membership.stir();
        snapshotSender.tick(nowMs);
        store.tick(nowMs);
        return true;
    }

    /** A while after the last write: what is found torn after this is a write that came later. */
    private void markWhenIdle() throws IOException {
        if (nowMs >= markDueMs) {
            markDueMs = Long.MAX_VALUE;
            store.markEnd();
        }
        if (core.leader() == 0 && nowMs - core.status().heardLeaderMs() > 5 * options.electionTimeoutMs()) {
            complaints.tell(noLeader(core.noLeaderReason(nowMs)));
        }
    }

    private static String noLeader(String reason) {
        return reason.isEmpty() ? "" : "there is no leader: " + reason;
    }

    private boolean carryOut() throws IOException {
        Output output = core.take();
        // first, for the leadership that is confirmed to them must be from after they were heard
        output.notes().forEach(note -> listener.noted(note.from(), note.note()));
        Output.Vote vote = output.vote();
        if (vote != null) {
            store.vote(vote.term(), vote.votedFor());
        }
        if (output.role() != null) {
            roleChanged(output.role());
        }
        for (Output.Envelope envelope : output.messages()) {
            outgoing.send(envelope.to(), envelope.message());
        }
        if (!output.append().isEmpty() || output.cutAfter() >= 0) {
            outgoing.flush(); // others write while this member does
        }
        boolean written = write(output);
        commitIndex = output.commitIndex();
        output.confirmed().forEach(confirmed -> reads.confirmed(confirmed.id(), confirmed.index()));
        for (int member : output.snapshotsWanted()) {
            snapshotSender.wanted(member, nowMs);
        }
        for (Output.ReceivedPiece piece : output.pieces()) {
            snapshotReceiver.received(piece.from(), piece.piece());
        }
        if (output.full()) {
            store.caughtUp();
        }
        return written
                || vote != null
                || output.role() != null
                || !output.messages().isEmpty()
                || !output.notes().isEmpty()
                || !output.confirmed().isEmpty();
    }

    private boolean write(Output output) throws IOException {
        if (output.cutAfter() >= 0) {
            writer.cutAfter(output.cutAfter());
        }
        writer.add(output.append());
        if (!writer.write(output.commitIndex())) {
            return false;
        }
        core.durable(nowMs, writer.durableIndex(), writer.durableTerm());
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
        boolean applied = false;
        for (LogBatch batch = writer.nextCommitted(commitIndex);
                batch != null;
                batch = writer.nextCommitted(commitIndex)) {
            applier.apply(batch);
            applied = true;
            tellLeading();
            store.applied(applier.position(), machine::snapshot);
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
        if (handover.isRunning()) {
            handover.look(self, core.status(), nowMs);
        }
        if (leads) {
            acted = membership.keep(core, nowMs, options.wallClockMs().getAsLong(), applier.configuration());
            acted |= (intake.isFull() || isStuck()) && handover.beginForRoom(core, nowMs);
        }
        boolean belongs = applier.configuration().members().containsKey(self);
        boolean hasLeader = leads ? leadingTerm != 0 : core.leader() != 0;
        boolean asked = serving.look(nowMs, !belongs || isStuck(), isOnlyVoter(), hasLeader);
        return acted || asked;
    }

    /** Batches are here that cannot be written, so nothing is applied. */
    private boolean isStuck() {
        return writer.isHolding() && store.diskState() == DiskState.FULL;
    }

    // ---- where things stand

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
                commitIndex,
                applier.index(),
                applier.configuration(),
                from.clusterId(),
                from.diskState(),
                core.noLeaderReason(nowMs));
    }

    long nextTurnMs() {
        long next = Math.min(ticks.timeMs(core.nextTickMs()), serving.nextLookMs(isOnlyVoter()));
        return Math.min(Math.min(next, markDueMs), Math.min(handover.deadlineMs(), closeDeadlineMs));
    }

    // ---- the end

    /** Whether this member may close: what was queued is applied, and leadership handed over; or time is up. */
    boolean hasFinished() {
        boolean mayWaitForEver = isOnlyVoter() && store.diskState() != DiskState.FULL;
        if (closeDeadlineMs == Long.MAX_VALUE && !mayWaitForEver) {
            closeDeadlineMs = nowMs + 3 * options.electionTimeoutMs();
        }
        if (nowMs >= closeDeadlineMs) {
            return true;
        }
        if (queue.peek() != null || !own.isEmpty() || !reads.isEmpty() || intake.isHolding()) {
            return false;
        }
        if (core.role() == CoreRole.LEADER && !isOnlyVoter()) {
            handover.beginBeforeEnd(core, nowMs);
        }
        return !handover.isRunning();
    }

    void end(Rejection reason) {
        serving.stop();
        snapshotSender.clear();
        membership.deposed(core.status());
        handover.abandon();
        reads.clear();
        intake.abandon(reason);
    }

    // ---- what the parts say

    private final class Witness implements LogApplier.Witness {
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
            links.send(to, reply);
            links.flush();
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
        public void install(IncomingSnapshot snapshot, SnapshotPosition position, Runnable swap) throws IOException {
            installSnapshot(snapshot, position, swap);
        }
    }

    private void installSnapshot(IncomingSnapshot snapshot, SnapshotPosition position, Runnable swap)
            throws IOException {
        nowMs = options.monotonicMs().getAsLong();
        log.info("installing a snapshot of {} entries; {} were applied", position.lastIndex(), applier.index());
        serving.stop();
        snapshot.install();
        swap.run();
        applier.restore(position);
        writer.restart(position.lastIndex());
        commitIndex = Math.max(commitIndex, position.lastIndex());
        own.installed(applier.proposer(self));
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
