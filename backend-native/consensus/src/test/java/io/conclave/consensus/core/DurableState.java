package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntryKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What a simulated member has on its disk. */
final class DurableState {
    /** A batch and the commit index that its header has. */
    record Stored(LogBatch batch, long commitMark) {}

    /** Where the log begins, and what a snapshot there says. */
    record Base(long index, long term, long timestampMs, ClusterConfiguration configuration, long configurationIndex) {}

    final long directory;
    long term;
    int votedFor;
    boolean torn;
    private Base base;
    private final List<Stored> log = new ArrayList<>();
    private final Configurations configurations;

    DurableState(long directory, ClusterConfiguration bootstrap) {
        this.directory = directory;
        base = new Base(0, 0, 0, bootstrap, 0);
        configurations = new Configurations(bootstrap, 0);
    }

    Base base() {
        return base;
    }

    long lastIndex() {
        return log.isEmpty() ? base.index() : last().lastIndex();
    }

    long lastTerm() {
        return log.isEmpty() ? base.term() : last().term();
    }

    private LogBatch last() {
        return log.get(log.size() - 1).batch();
    }

    /** Whether a committed batch is here. */
    boolean has(LogBatch batch) {
        for (int i = log.size() - 1; i >= 0; i--) {
            LogBatch ours = log.get(i).batch();
            if (ours.firstIndex() <= batch.firstIndex()) {
                return ours.firstIndex() == batch.firstIndex() && ours.term() == batch.term();
            }
        }
        return batch.lastIndex() <= base.index();
    }

    void cutAfter(long index) {
        while (!log.isEmpty() && last().firstIndex() > index) {
            log.remove(log.size() - 1);
        }
        configurations.cutAfter(index);
    }

    void append(LogBatch batch, long commitMark) {
        if (batch.firstIndex() != lastIndex() + 1) {
            throw new AssertionError(batch + " is written behind " + lastIndex());
        }
        log.add(new Stored(batch, commitMark));
        configurations.append(batch);
    }

    /**
     * Loses the last batches, as a torn tail would; but no configuration, which would bring an older one back in which
     * this member may have been the only voter (the store's durable mark is moved behind configurations).
     */
    void tear(int batches) {
        for (int i = 0; i < batches && !log.isEmpty(); i++) {
            if (last().entries().get(0).kind() == LogEntryKind.CONFIGURATION) {
                break;
            }
            log.remove(log.size() - 1);
        }
        torn = true;
    }

    /** A snapshot takes the place of the log. */
    void install(Base snapshot) {
        base = snapshot;
        log.clear();
        configurations.reset(snapshot.configuration(), snapshot.configurationIndex());
    }

    /** The base moved forward to a border that is committed. */
    private Base baseAt(long index) {
        Base at = base;
        Configurations before = new Configurations(base.configuration(), base.configurationIndex());
        for (Stored stored : log) {
            LogBatch batch = stored.batch();
            if (batch.lastIndex() > index) {
                break;
            }
            before.append(batch);
            at = new Base(batch.lastIndex(), batch.term(), batch.timestampMs(), before.latest(), before.latestIndex());
        }
        return at;
    }

    void compact(long index) {
        base = baseAt(index);
        log.removeIf(stored -> stored.batch().lastIndex() <= base.index());
    }

    /** The configuration that this disk's log ends with. */
    ClusterConfiguration configuration() {
        return configurations.latest();
    }

    CoreStart start(int member) {
        long committed = base.index();
        for (Stored stored : log) {
            committed = Math.max(committed, Math.min(stored.commitMark(), lastIndex()));
        }
        Base from = baseAt(committed);
        List<LogBatch> rest = log.stream()
                .map(Stored::batch)
                .filter(batch -> batch.firstIndex() > from.index())
                .toList();
        return new CoreStart(
                member,
                directory,
                term,
                votedFor,
                from.index(),
                from.term(),
                from.timestampMs(),
                from.configuration(),
                from.configurationIndex(),
                rest,
                torn,
                term,
                Set.of());
    }
}
