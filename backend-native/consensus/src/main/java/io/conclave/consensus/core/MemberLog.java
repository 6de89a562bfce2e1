package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogBatch;

/** This member's log: what is in it, what of that is durable, committed and applied. */
final class MemberLog {
    private final Outbox outbox;
    private final CoreOptions options;
    final LogWindow window;
    final Configurations configurations;
    private long durableIndex;
    private long commitIndex;
    private long appliedIndex;

    MemberLog(CoreStart start, CoreOptions options, Outbox outbox) {
        this.outbox = outbox;
        this.options = options;
        window = new LogWindow(start.baseIndex(), start.baseTerm(), start.baseTimestampMs());
        configurations = new Configurations(start.configuration(), start.configurationIndex());
        for (LogBatch batch : start.rest()) {
            window.append(batch);
            configurations.append(batch);
        }
        durableIndex = window.lastIndex();
        commitIndex = start.baseIndex();
        appliedIndex = start.baseIndex();
    }

    long lastIndex() {
        return window.lastIndex();
    }

    long durableIndex() {
        return durableIndex;
    }

    long commitIndex() {
        return commitIndex;
    }

    ClusterConfiguration configuration() {
        return configurations.latest();
    }

    boolean configurationCommitted() {
        return configurations.latestIndex() <= commitIndex;
    }

    void append(LogBatch batch) {
        window.append(batch);
        configurations.append(batch);
        outbox.append(batch);
    }

    void cutAfter(long index) {
        if (index < commitIndex) {
            throw new IllegalStateException(
                    "the leader's log differs behind " + index + ", but " + commitIndex + " is committed here");
        }
        window.cutAfter(index);
        configurations.cutAfter(index);
        outbox.cutAfter(index);
        durableIndex = Math.min(durableIndex, index);
    }

    /** Ignores batches that others have replaced meanwhile. */
    void durable(long index, long term) {
        if (index > durableIndex && window.termAt(index) == term) {
            durableIndex = index;
        }
    }

    void commit(long index) {
        if (index > window.lastIndex() || !window.isBorder(index)) {
            throw new IllegalStateException("index " + index + " cannot be committed, the log ends at " + lastIndex());
        }
        commitIndex = index;
        configurations.committed(index);
    }

    void applied(long index) {
        if (index > commitIndex) {
            throw new IllegalStateException("applied up to " + index + ", committed is " + commitIndex);
        }
        appliedIndex = Math.max(appliedIndex, index);
    }

    void install(
            long lastIndex,
            long lastTerm,
            long timestampMs,
            ClusterConfiguration configuration,
            long configurationIndex) {
        window.reset(lastIndex, lastTerm, timestampMs);
        configurations.reset(configuration, configurationIndex);
        outbox.installed(lastIndex);
        durableIndex = lastIndex;
        commitIndex = lastIndex;
        appliedIndex = lastIndex;
    }

    /** Drops what is applied, or can be read elsewhere, and beyond the bounds of memory. */
    void trim(long neededAfter) {
        long droppable = Math.min(appliedIndex, Math.min(commitIndex, durableIndex));
        window.dropWhile(batch -> batch.lastIndex() <= droppable
                && window.bytes() > options.tailBytes()
                && (batch.lastIndex() <= neededAfter || window.bytes() > options.windowBytes()));
    }
}
