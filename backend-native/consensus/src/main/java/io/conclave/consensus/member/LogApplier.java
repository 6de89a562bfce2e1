package io.conclave.consensus.member;

import io.conclave.consensus.CommittedBatch;
import io.conclave.consensus.CommittedEntry;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.ConfigurationCodec;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.LogState;
import io.conclave.consensus.entry.LogState.Proposer;
import io.conclave.consensus.entry.Origin;
import io.conclave.consensus.store.SnapshotPosition;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Applies committed batches: to the log's own state (configuration, feature level, the proposals of each member) and,
 * what passes that, to the machine. All members decide alike which entries count: of a proposer only those of its
 * current incarnation, each exactly behind the last one.
 */
final class LogApplier {

    /** Told about entries as they are applied. Does nothing by itself, as one who has proposed nothing. */
    interface ApplyListener {
        /** An entry of this member counts; its proposal, if it was made since the start and is what the entry says. */
        default @Nullable Proposal accepted(Origin origin, LogEntryKind kind) {
            return null;
        }

        /** An entry of this member does not count. */
        default void discarded(Origin origin) {}

        /** A member has begun a new incarnation, which is the index of the entry. */
        default void started(Started started, long index) {}

        /** A configuration is committed. */
        default void configured(ClusterConfiguration configuration) {}
    }

    private final StateMachine machine;
    private final int memberId;
    private final ApplyListener listener;
    private final Consumer<ClusterConfiguration> configured;

    private ClusterConfiguration configuration;
    private long configurationIndex;
    private int featureLevel;
    private final Map<Integer, Proposer> proposers = new TreeMap<>();
    private long index;
    private long term;
    private long timestampMs;

    /** @param configured called behind the listener with each configuration that is committed */
    LogApplier(StateMachine machine, int memberId, ApplyListener listener, Consumer<ClusterConfiguration> configured) {
        this.machine = machine;
        this.memberId = memberId;
        this.listener = listener;
        this.configured = configured;
        configuration = LogState.INITIAL.configuration();
        featureLevel = LogState.INITIAL.featureLevel();
    }

    /** The log's state is that of a snapshot, or of the cluster's bootstrap. */
    void restore(SnapshotPosition position) {
        LogState state = position.state();
        configuration = state.configuration();
        configurationIndex = state.configurationIndex();
        featureLevel = state.featureLevel();
        proposers.clear();
        proposers.putAll(state.proposers());
        index = position.lastIndex();
        term = position.term();
        timestampMs = position.timestampMs();
    }

    long index() {
        return index;
    }

    long term() {
        return term;
    }

    int featureLevel() {
        return featureLevel;
    }

    long timestampMs() {
        return timestampMs;
    }

    ClusterConfiguration configuration() {
        return configuration;
    }

    long configurationIndex() {
        return configurationIndex;
    }

    @Nullable
    Proposer proposer(int member) {
        return proposers.get(member);
    }

    SnapshotPosition position() {
        return new SnapshotPosition(
                term, index, timestampMs, new LogState(configuration, configurationIndex, featureLevel, proposers));
    }

    void apply(LogBatch batch) {
        if (batch.firstIndex() != index + 1) {
            throw new IllegalStateException(batch + " does not follow " + index);
        }
        List<CommittedEntry> accepted = new ArrayList<>(batch.entries().size());
        long at = batch.firstIndex();
        for (LogEntry entry : batch.entries()) {
            apply(entry, at++, accepted);
        }
        index = batch.lastIndex();
        term = batch.term();
        timestampMs = batch.timestampMs();
        if (!accepted.isEmpty()) {
            machine.apply(new CommittedBatch(term, batch.firstIndex(), index, timestampMs, accepted));
        }
    }

    private void apply(LogEntry entry, long at, List<CommittedEntry> accepted) {
        switch (entry.kind()) {
            case TERM -> accepted.add(new CommittedEntry(LogEntryKind.TERM, entry.payload(), null));
            case CONFIGURATION -> {
                configure(entry, at);
                accepted.add(new CommittedEntry(LogEntryKind.CONFIGURATION, entry.payload(), null));
            }
            case STARTED -> Started.of(entry).ifPresent(started -> start(started, at));
            case APPLICATION, FEATURE_LEVEL -> accept(entry, accepted);
        }
    }

    /** The record of a proposer goes with the member. */
    private void configure(LogEntry entry, long at) {
        configuration = ConfigurationCodec.decode(entry.payload());
        configurationIndex = at;
        proposers.keySet().retainAll(configuration.members().keySet());
        listener.configured(configuration);
        configured.accept(configuration);
    }

    /**
     * The same start may come twice, since it is proposed until it is seen. Whether it is a member's is for the leader
     * to say: the configuration at bootstrap is not in the log, so not every member that applies this knows it. One
     * from a directory that went back in time does not count.
     */
    private void start(Started started, long at) {
        Proposer before = proposers.get(started.member());
        if (before != null
                && (before.nonce() == started.nonce() || started.start().isOvertakenBy(before.start()))) {
            return;
        }
        proposers.put(started.member(), new Proposer(at, started.nonce(), 0, started.start()));
        listener.started(started, at);
    }

    private void accept(LogEntry entry, List<CommittedEntry> accepted) {
        Origin origin = entry.origin();
        Proposer proposer = proposers.get(origin.member());
        boolean own = origin.member() == memberId;
        if (proposer == null
                || proposer.incarnation() != origin.incarnation()
                || proposer.lastSequence() + 1 != origin.sequence()) {
            if (own) {
                listener.discarded(origin);
            }
            return;
        }
        proposers.put(
                origin.member(),
                new Proposer(proposer.incarnation(), proposer.nonce(), origin.sequence(), proposer.start()));
        if (entry.kind() == LogEntryKind.FEATURE_LEVEL) {
            featureLevel =
                    Math.max(featureLevel, ByteBuffer.wrap(entry.payload()).getInt());
        }
        Proposal proposal = own ? listener.accepted(origin, entry.kind()) : null;
        accepted.add(new CommittedEntry(entry.kind(), entry.payload(), proposal));
    }
}
