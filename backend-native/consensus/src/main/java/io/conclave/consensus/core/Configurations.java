package io.conclave.consensus.core;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.ConfigurationCodec;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntryKind;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * The configurations of the log, by index. The latest one counts from the moment it is in the log, committed or not,
 * and the one before comes back when it is cut off (Raft thesis §4.1).
 */
final class Configurations {
    private final TreeMap<Long, ClusterConfiguration> byIndex = new TreeMap<>();

    Configurations(ClusterConfiguration configuration, long index) {
        byIndex.put(index, configuration);
    }

    ClusterConfiguration latest() {
        return byIndex.lastEntry().getValue();
    }

    long latestIndex() {
        return byIndex.lastKey();
    }

    void append(LogBatch batch) {
        for (int i = 0; i < batch.entries().size(); i++) {
            if (batch.entries().get(i).kind() == LogEntryKind.CONFIGURATION) {
                byIndex.put(
                        batch.firstIndex() + i,
                        ConfigurationCodec.decode(batch.entries().get(i).payload()));
            }
        }
    }

    void cutAfter(long index) {
        byIndex.tailMap(index, false).clear();
    }

    /** Whether it holds for one from the last that is known to be committed to the latest. */
    boolean anyInForce(Predicate<ClusterConfiguration> predicate) {
        return byIndex.values().stream().anyMatch(predicate);
    }

    /** The members of all of these: a leader of any of them is one of these, and so are its followers. */
    Set<Integer> membersInForce() {
        Set<Integer> members = new TreeSet<>();
        byIndex.values()
                .forEach(configuration -> members.addAll(configuration.members().keySet()));
        return members;
    }

    /** Forgets what came before the last committed one. */
    void committed(long commitIndex) {
        Long last = byIndex.floorKey(commitIndex);
        if (last != null) {
            byIndex.headMap(last, false).clear();
        }
    }

    void reset(ClusterConfiguration configuration, long index) {
        byIndex.clear();
        byIndex.put(index, configuration);
    }
}
