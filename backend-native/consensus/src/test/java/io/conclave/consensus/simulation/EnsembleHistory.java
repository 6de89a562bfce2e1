package io.conclave.consensus.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.CommittedBatch;
import io.conclave.consensus.CommittedEntry;
import io.conclave.consensus.entry.LogEntryKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What is known of the whole ensemble, over all starts of all members; checks what must never be. */
final class EnsembleHistory {
    /** Received states that were read, that another one replaced before they were, and whose reader died first. */
    int statesRead;

    int statesOvertaken;
    int diedReading;

    /** Leaders that were elected while a member read a state. */
    int leadersWhileReading;

    private int readers;

    /** A batch as every member has to see it. */
    private record Seen(long term, long lastIndex, long timestampMs, List<Long> payloads) {}

    private final Map<Long, Seen> batches = new HashMap<>();
    private final Map<Long, Integer> leaders = new HashMap<>();
    private final Map<Long, Long> appliedAt = new HashMap<>();
    private final Map<Long, Long> lastOfProposer = new HashMap<>();
    /** Proposals of members that did not lead then that were rejected. */
    int rejectedElsewhere;

    private final Set<Long> rejected = new HashSet<>();
    private final Set<Long> acknowledged = new HashSet<>();
    private long nextId;

    /** The highest index of an entry that was reported as applied. */
    private long acknowledgedIndex;

    EnsembleHistory() {
        this(1);
    }

    /** @param firstId what numbers begin with, where another history has others */
    EnsembleHistory(long firstId) {
        nextId = firstId;
    }

    long newId() {
        return nextId++;
    }

    int acknowledgedCount() {
        return acknowledged.size();
    }

    long acknowledgedIndex() {
        return acknowledgedIndex;
    }

    void beginsToRead() {
        readers++;
    }

    void readsNoMore() {
        readers--;
    }

    void leads(int member, long term) {
        leadersWhileReading += readers > 0 ? 1 : 0;
        Integer other = leaders.putIfAbsent(term, member);
        assertTrue(other == null || other == member, "members " + other + " and " + member + " lead in term " + term);
    }

    /** How many proposals were applied. */
    int appliedCount() {
        return appliedAt.size();
    }

    int leaderCount() {
        return leaders.size();
    }

    /** A member applies a batch; the first to do so says what all others have to see. */
    void applied(CommittedBatch batch) {
        List<Long> payloads = new ArrayList<>();
        for (CommittedEntry entry : batch.entries()) {
            long value = CounterMachine.valueOf(batch, entry);
            payloads.add(entry.kind() == LogEntryKind.TERM ? -value : value);
        }
        Seen seen = new Seen(batch.term(), batch.lastIndex(), batch.timestampMs(), payloads);
        Seen first = batches.putIfAbsent(batch.firstIndex(), seen);
        if (first == null) {
            for (CommittedEntry entry : batch.entries()) {
                if (entry.kind() == LogEntryKind.APPLICATION) {
                    firstApplied(entry.payload(), batch.firstIndex());
                }
            }
        } else {
            assertEquals(first, seen, "batch at index " + batch.firstIndex());
        }
    }

    private void firstApplied(byte[] payload, long index) {
        long id = CounterMachine.idOf(payload);
        Long before = appliedAt.putIfAbsent(id, index);
        assertEquals(null, before, "proposal " + id + " is applied twice, now at " + index);
        assertTrue(!rejected.contains(id), "proposal " + id + " was rejected, and is applied");
        Long last = lastOfProposer.put(CounterMachine.proposerOf(payload), id);
        assertTrue(last == null || last < id, "proposal " + id + " is applied after " + last + " of the same proposer");
    }

    void acknowledged(long id, long index) {
        assertTrue(acknowledged.add(id), "proposal " + id + " is acknowledged twice");
        assertTrue(appliedAt.containsKey(id), "proposal " + id + " is acknowledged but not applied");
        acknowledgedIndex = Math.max(acknowledgedIndex, index);
    }

    void rejected(long id) {
        assertTrue(!appliedAt.containsKey(id), "proposal " + id + " is applied, and rejected");
        rejected.add(id);
    }
}
