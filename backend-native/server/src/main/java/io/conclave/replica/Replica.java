package io.conclave.replica;

import io.conclave.consensus.CommittedBatch;
import io.conclave.consensus.CommittedEntry;
import io.conclave.consensus.LogException;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.entry.ConfigurationCodec;
import io.conclave.tree.Applied;
import io.conclave.tree.Change;
import io.conclave.tree.ChangeCodec;
import io.conclave.tree.SnapshotCodec;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeState;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The log's state machine: each entry is decoded and applied to the tree, and the batch's steps are told to the
 * listeners. Everything but {@link #state()} belongs to the log's thread.
 */
public final class Replica implements StateMachine {
    private final int featureLevel;
    private volatile TreeState state = TreeState.OF_NO_CLUSTER;
    private volatile boolean reading;
    private volatile List<StepListener> listeners = List.of();

    /**
     * A replica that has nothing yet.
     *
     * @param featureLevel up to which it understands what is in the log
     */
    public Replica(int featureLevel) {
        this.featureLevel = featureLevel;
    }

    /**
     * The state after the last applied entry; from any thread. It may be ahead of what the listeners have made of it,
     * never behind. An empty one while {@link #isReading}.
     */
    public TreeState state() {
        return state;
    }

    /** Whether the state is forgotten, and another one is read that takes its place; from any thread. */
    public boolean isReading() {
        return reading;
    }

    /**
     * Sets the listeners that learn of the present state and of each batch from here on, in that order. Does nothing if
     * some are set already. On the log's thread.
     */
    public void tell(List<StepListener> newListeners) {
        if (listeners.isEmpty()) {
            listeners = List.copyOf(newListeners);
            if (!reading) {
                listeners.forEach(listener -> listener.began(state));
            }
        }
    }

    @Override
    public void begin(UUID clusterId) {
        state = TreeState.initial(clusterId, 0);
    }

    @Override
    public void apply(CommittedBatch batch) {
        requireState();
        List<Step> steps = new ArrayList<>(batch.entries().size());
        TreeState next = batch.firstIndex() == 1 ? bootstrapped(batch) : state;
        for (CommittedEntry entry : batch.entries()) {
            ChangeProposal origin = entry.origin() instanceof ChangeProposal proposal ? proposal : null;
            Change change = origin != null ? origin.change() : decode(entry, batch.term());
            if (change != null) {
                Applied applied = Tree.apply(next, change, batch.timestampMs());
                next = applied.state();
                steps.add(new Step(change, applied, origin));
            }
        }
        state = next;
        if (steps.isEmpty()) {
            return;
        }
        for (StepListener listener : listeners) {
            listener.applied(steps);
        }
    }

    /**
     * The generation is the time of the cluster's first batch: all members and every recovery see the same, and a
     * server in memory, which is bootstrapped at each start, has a larger one each time.
     */
    private TreeState bootstrapped(CommittedBatch batch) {
        return state.withGeneration(batch.timestampMs());
    }

    /** Null if the tree has nothing to do with it. */
    private @Nullable Change decode(CommittedEntry entry, long term) {
        return switch (entry.kind()) {
            case TERM -> new Change.NewTerm(term);
            case APPLICATION -> ChangeCodec.decode(ByteBuffer.wrap(entry.payload()));
            case FEATURE_LEVEL -> raise(ByteBuffer.wrap(entry.payload()).getInt());
            case CONFIGURATION -> new Change.Configure(MemberList.of(ConfigurationCodec.decode(entry.payload())));
            case STARTED -> null;
        };
    }

    /** What follows may mean something that this software does not know, so it must not be applied. */
    private Change raise(int level) {
        if (level > featureLevel) {
            throw new LogException(
                    "the cluster has switched feature level " + level + " on, and this software understands "
                            + featureLevel + " at most: a newer version is needed here");
        }
        return new Change.RaiseFeatureLevel(level);
    }

    private void requireState() {
        if (reading) {
            throw new IllegalStateException("the state that comes next is still being read");
        }
    }

    @Override
    public StateSnapshot snapshot() {
        requireState();
        TreeState now = state;
        return out -> SnapshotCodec.write(now, out);
    }

    @Override
    public void drop() {
        reading = true;
        state = TreeState.OF_NO_CLUSTER;
        listeners.forEach(StepListener::dropped);
    }

    @Override
    public Runnable read(InputStream snapshot) throws IOException {
        TreeState read = SnapshotCodec.read(snapshot);
        return () -> {
            state = read;
            reading = false;
            listeners.forEach(listener -> listener.began(read));
        };
    }
}
