package io.conclave.consensus.member;

import io.conclave.consensus.LogOptions;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.CoreOutput;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.store.IncomingSnapshot;
import io.conclave.consensus.store.LogStore;
import io.conclave.consensus.store.SnapshotPosition;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A snapshot from another member, from its first chunk until this member has its state: received, installed as the
 * beginning of the log, and loaded. Nothing is applied or read, and no client is served, from when it is installed
 * until it is loaded.
 */
final class SnapshotInstaller {
    private static final Logger log = LoggerFactory.getLogger(SnapshotInstaller.class);

    private final LogStore store;
    private final StateMachine machine;
    private final Core core;
    private final LogApplier applier;
    private final LogWriter writer;
    private final OwnProposals own;
    private final ServingRule serving;
    private final OutgoingMessages outgoing;
    private final TurnTime time;
    private final int self;
    private final Executor memberThread;
    private final SnapshotReceiver receiver;
    private final StateLoader loader;
    private final Consumer<ClusterConfiguration> announce;

    /**
     * @param apply applies a batch that follows the last applied one
     * @param announce is told of the configuration that comes with a snapshot
     */
    SnapshotInstaller(
            LogOptions options,
            LogStore store,
            StateMachine machine,
            Core core,
            LogApplier applier,
            LogWriter writer,
            OwnProposals own,
            ServingRule serving,
            OutgoingMessages outgoing,
            TurnTime time,
            Executor memberThread,
            Consumer<LogBatch> apply,
            Consumer<ClusterConfiguration> announce) {
        this.store = store;
        this.machine = machine;
        this.core = core;
        this.applier = applier;
        this.writer = writer;
        this.own = own;
        this.serving = serving;
        this.outgoing = outgoing;
        this.time = time;
        this.self = options.memberId();
        this.memberThread = memberThread;
        this.announce = announce;
        receiver = new SnapshotReceiver(store, options.background(), options.diskRetryMs(), new Receiving());
        loader = new StateLoader(store, machine, applier, writer, options.background(), memberThread, apply);
    }

    void received(CoreOutput.ReceivedChunk received) throws IOException {
        receiver.received(received.from(), received.chunk());
    }

    /** The leader is answered at once: the log is durable here, and that is what it counts. The state follows. */
    private void install(IncomingSnapshot snapshot, SnapshotPosition position) throws IOException {
        time.read();
        log.info("installing a snapshot of {} entries; {} were applied", position.lastIndex(), applier.index());
        serving.stop();
        snapshot.install();
        loader.begin(snapshot);
        applier.restore(position);
        writer.restart(position.lastIndex());
        own.installed(applier.proposer(self));
        core.hasState(time.nowMs(), false);
        core.installed(
                time.nowMs(),
                position.lastIndex(),
                position.term(),
                position.timestampMs(),
                position.state().configuration(),
                position.state().configurationIndex());
        announce.accept(position.state().configuration());
    }

    /** Whether the state of what is installed is not here yet. */
    boolean isLoading() {
        return loader.isLoading();
    }

    /** Goes on with loading, in each turn, instead of applying; whether the state is here now. */
    boolean load() {
        boolean loaded = loader.goOn(core.commitIndex(), core.tailBytes());
        core.applied(Math.max(writer.leftIndex(), applier.index()));
        if (loaded) {
            store.applied(applier.position(), machine::snapshot); // the one that was received may be damaged by now
            core.hasState(time.nowMs(), true);
        }
        return loaded;
    }

    /** The member ends. */
    void end() {
        loader.end();
    }

    private final class Receiving implements SnapshotReceiver.Receiving {
        @Override
        public void send(int to, PeerMessage.SnapshotReply reply) {
            outgoing.send(to, reply);
            outgoing.flush();
        }

        @Override
        public void toMember(Runnable action) {
            memberThread.execute(action);
        }

        @Override
        public long nowMs() {
            return time.nowMs();
        }

        @Override
        public boolean wants(long lastIndex, long lastTerm) {
            return lastIndex > applier.index() && core.wantsSnapshot(lastIndex, lastTerm);
        }

        @Override
        public void install(IncomingSnapshot snapshot, SnapshotPosition position) throws IOException {
            SnapshotInstaller.this.install(snapshot, position);
        }
    }
}
