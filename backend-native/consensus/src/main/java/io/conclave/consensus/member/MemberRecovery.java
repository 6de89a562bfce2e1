package io.conclave.consensus.member;

import io.conclave.consensus.LogOptions;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.CoreOptions;
import io.conclave.consensus.core.CoreStart;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogState;
import io.conclave.consensus.entry.Start;
import io.conclave.consensus.store.LogStore;
import io.conclave.consensus.store.Recovered;
import io.conclave.consensus.store.RecoveryTarget;
import io.conclave.consensus.store.SnapshotPosition;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Reads a member's store into its state machine, and says from what its core starts. */
final class MemberRecovery implements RecoveryTarget {
    private final LogOptions options;
    private final LogStore store;
    private final StateMachine machine;
    private final LogApplier applier;
    private final RecoveredTail tail;
    private Recovered recovered = new Recovered(0, 0, 0, 0, List.of(), false, 0, Start.NONE);

    MemberRecovery(LogOptions options, LogStore store, StateMachine machine, LogApplier applier) {
        this.options = options;
        this.store = store;
        this.machine = machine;
        this.applier = applier;
        this.tail = new RecoveredTail(
                CoreOptions.DEFAULT.withWindow(options.windowBytes()).tailBytes());
    }

    /** To be called once, before anything else. */
    void read() throws IOException {
        machine.begin(store.clusterId());
        if (store.isBootstrappedHere()) {
            applier.restore(new SnapshotPosition(0, 0, 0, bootstrapState()));
        }
        recovered = store.recover(this);
    }

    /** A cluster is bootstrapped with this member as the only one, and the only voter. */
    private LogState bootstrapState() {
        int self = options.memberId();
        EnsembleMember listed = options.members().getOrDefault(self, new EnsembleMember(self, 0, "", 0, "", 0, false));
        ClusterConfiguration alone =
                new ClusterConfiguration(Map.of(self, listed.withDirectory(store.directory())), Set.of(self), Set.of());
        return new LogState(alone, 0, LogState.INITIAL.featureLevel(), Map.of());
    }

    @Override
    public void restore(SnapshotPosition position, InputStream state) throws IOException {
        machine.read(state).run();
        applier.restore(position);
        tail.restart(position);
    }

    @Override
    public void committed(LogBatch batch) {
        applier.apply(batch);
        tail.add(batch);
    }

    /** This start of the member. */
    Start start() {
        return recovered.start();
    }

    /** What is in the log and may not be committed. */
    List<LogBatch> rest() {
        return recovered.rest();
    }

    CoreStart coreStart() {
        return new CoreStart(
                options.memberId(),
                store.directory(),
                recovered.term(),
                recovered.votedFor(),
                applier.index(),
                applier.term(),
                applier.timestampMs(),
                applier.configuration(),
                applier.configurationIndex(),
                recovered.rest(),
                recovered.cut(),
                recovered.doubtTerm(),
                others());
    }

    private Set<Integer> others() {
        Set<Integer> others = new TreeSet<>(options.members().keySet());
        others.remove(options.memberId());
        return others;
    }

    /** Gives the core what it may send to members that are a little behind. */
    void remind(Core core) {
        core.remember(tail.batches(), tail.termBefore(), tail.timestampBeforeMs());
    }
}
