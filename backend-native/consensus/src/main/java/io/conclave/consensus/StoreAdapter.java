package io.conclave.consensus;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EntryKind;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogState;
import io.conclave.consensus.entry.Origin;
import io.conclave.consensus.store.Recovered;
import io.conclave.consensus.store.RecoveryTarget;
import io.conclave.consensus.store.SnapshotPosition;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A member's store as the log of a cluster of one sees it, for which everything that is durable is committed. */
final class StoreAdapter implements LogStore {

    /** Opens the store. */
    interface Opening {
        io.conclave.consensus.store.LogStore open() throws IOException;
    }

    private final int member;
    private final Opening opening;
    private io.conclave.consensus.store.@Nullable LogStore store;
    private long term;
    private int featureLevel;
    private Tail tail = new Tail(0, 0);

    StoreAdapter(int member, Opening opening) {
        this.member = member;
        this.opening = opening;
    }

    private io.conclave.consensus.store.LogStore store() {
        if (store == null) {
            throw new IllegalStateException("the log has not been recovered");
        }
        return store;
    }

    @Override
    public Tail recover(StateMachine machine) throws IOException {
        store = opening.open();
        if (!store.isMember()) {
            throw new LogException("the directory is empty, and making a new cluster is not allowed by the options");
        }
        machine.begin(store.clusterId());
        Recovered recovered = store.recover(new RecoveryTarget() {
            @Override
            public void restore(SnapshotPosition position, InputStream state) throws IOException {
                featureLevel = position.state().featureLevel();
                tail = new Tail(position.lastIndex(), position.timestampMs());
                machine.read(state).run();
            }

            @Override
            public void committed(LogBatch batch) {
                recoveredBatch(batch, machine);
            }
        });
        recovered.rest().forEach(batch -> recoveredBatch(batch, machine));
        term = recovered.term();
        return tail;
    }

    private void recoveredBatch(LogBatch batch, StateMachine machine) {
        List<CommittedEntry> entries = batch.entries().stream()
                .map(entry -> new CommittedEntry(entry.kind(), entry.payload(), null))
                .toList();
        CommittedBatch committed = new CommittedBatch(batch.term(), batch.firstIndex(), batch.timestampMs(), entries);
        count(committed);
        machine.apply(committed);
    }

    private void count(CommittedBatch batch) {
        tail = new Tail(batch.lastIndex(), batch.timestampMs());
        for (CommittedEntry entry : batch.entries()) {
            if (entry.kind() == EntryKind.FEATURE_LEVEL) {
                featureLevel = ByteBuffer.wrap(entry.payload()).getInt();
            }
        }
    }

    @Override
    public UUID clusterId() {
        return store().clusterId();
    }

    @Override
    public long enterNextTerm() throws IOException {
        term++;
        store().vote(term, member);
        store().caughtUp();
        return term;
    }

    @Override
    public Appended append(CommittedBatch batch) throws IOException {
        List<LogEntry> entries = batch.entries().stream()
                .map(entry -> new LogEntry(entry.kind(), Origin.NONE, entry.payload()))
                .toList();
        LogBatch written = new LogBatch(batch.term(), batch.firstIndex(), batch.timestampMs(), entries);
        return switch (store().append(List.of(written), batch.firstIndex() - 1)) {
            case DONE -> Appended.DONE;
            case WAIT -> Appended.WAIT;
            case FULL -> Appended.FULL;
        };
    }

    @Override
    public void applied(CommittedBatch batch, StateMachine machine) {
        count(batch);
        LogState state = new LogState(ClusterConfiguration.NONE, 0, featureLevel, Map.of());
        store().applied(
                        new SnapshotPosition(batch.term(), batch.lastIndex(), batch.timestampMs(), state),
                        machine::snapshot);
    }

    @Override
    public DiskState diskState() {
        return store == null ? DiskState.ROOM : store.diskState();
    }

    @Override
    public boolean stopped() {
        return store == null || store.stopped();
    }

    @Override
    public void close(boolean clean) throws IOException {
        if (store != null) {
            store.close(clean);
        }
    }
}
