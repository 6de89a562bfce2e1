package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogBatch;
import java.util.ArrayList;
import java.util.List;

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
    Base base;
    final List<Stored> log = new ArrayList<>();

    DurableState(long directory, ClusterConfiguration birth) {
        this.directory = directory;
        base = new Base(0, 0, 0, birth, 0);
    }

    long lastIndex() {
        return log.isEmpty() ? base.index() : log.get(log.size() - 1).batch().lastIndex();
    }

    void cutAfter(long index) {
        log.removeIf(stored -> stored.batch().firstIndex() > index);
    }

    void append(LogBatch batch, long commitMark) {
        if (batch.firstIndex() != lastIndex() + 1) {
            throw new AssertionError(batch + " is written behind " + lastIndex());
        }
        log.add(new Stored(batch, commitMark));
    }

    /** The base moved forward to a border that is committed. */
    Base baseAt(long index) {
        Base at = base;
        Configurations configurations = new Configurations(base.configuration(), base.configurationIndex());
        for (Stored stored : log) {
            LogBatch batch = stored.batch();
            if (batch.lastIndex() > index) {
                break;
            }
            configurations.append(batch);
            at = new Base(
                    batch.lastIndex(),
                    batch.term(),
                    batch.timestampMs(),
                    configurations.latest(),
                    configurations.latestIndex());
        }
        return at;
    }

    void compact(long index) {
        base = baseAt(index);
        log.removeIf(stored -> stored.batch().lastIndex() <= base.index());
    }

    /** The configuration that this disk's log ends with. */
    ClusterConfiguration configuration() {
        return baseAt(Long.MAX_VALUE).configuration();
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
                torn);
    }
}
