package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.consensus.LogOptions;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.LogState;
import io.conclave.consensus.entry.Origin;
import io.conclave.consensus.store.LogStore.Appended;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The store of a cluster of one during one start, with which every batch is committed as soon as it is durable. */
final class SingleVoter {
    static final long NOW_MS = 1_700_000_000_000L;

    final FileStore store;
    final Recovered recovered;
    final Replay replay = new Replay();

    /** Fingerprints of all batches since the snapshot of the recovery. */
    final List<String> seen = new ArrayList<>();

    long term;
    long lastIndex;
    long state;

    /** Recovers, votes for itself and writes the first entry of its term. */
    SingleVoter(Disk disk, LogOptions options) throws IOException {
        store = FileStore.open(disk, options, Runnable::run);
        recovered = store.recover(replay);
        replay.batches.forEach(this::took);
        recovered.rest().forEach(this::took);
        lastIndex = Math.max(lastIndex, replay.snapshot.lastIndex());
        state = replay.state;
        recovered.rest().forEach(batch -> state = Replay.stateAfter(state, batch));
        term = recovered.term() + 1;
        store.vote(term, options.memberId());
        assertEquals(Appended.DONE, write(LogEntryKind.TERM, new byte[0]));
    }

    private void took(LogBatch batch) {
        seen.add(Model.fingerprint(batch));
        lastIndex = batch.lastIndex();
    }

    /** A batch of one entry of so many bytes. */
    Appended write(int bytes) throws IOException {
        byte[] payload = new byte[bytes];
        Arrays.fill(payload, (byte) 'x');
        return write(LogEntryKind.APPLICATION, payload);
    }

    private Appended write(LogEntryKind kind, byte[] payload) throws IOException {
        LogBatch batch = batch(lastIndex + 1, kind, payload);
        Appended outcome = store.append(List.of(batch), lastIndex);
        if (outcome == Appended.WAIT) {
            // what was missing has been made meanwhile: background work runs in the caller
            outcome = store.append(List.of(batch), lastIndex);
        }
        if (outcome == Appended.DONE) {
            took(batch);
            state = Replay.stateAfter(state, batch);
            long now = state;
            LogState logState = new LogState(ClusterConfiguration.NONE, 0, 1, Map.of());
            store.applied(
                    new SnapshotPosition(term, lastIndex, batch.timestampMs(), logState), () -> Replay.snapshotOf(now));
        }
        return outcome;
    }

    LogBatch batch(long firstIndex, LogEntryKind kind, byte[] payload) {
        return new LogBatch(term, firstIndex, NOW_MS, List.of(new LogEntry(kind, new Origin(1, 2, 3), payload)));
    }

    void close() throws IOException {
        store.stopped();
        store.close(true);
    }
}
