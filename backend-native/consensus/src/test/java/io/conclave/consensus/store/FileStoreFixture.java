package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.consensus.LogOptions;
import io.conclave.consensus.disk.SimulatedDisk;
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
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Executor;

/** A store on a simulated disk, and what is written to it. */
abstract class FileStoreFixture {
    static final UUID CLUSTER = new UUID(5, 6);
    static final int SEGMENT_BYTES = 32 * 1024;

    final SimulatedDisk disk = new SimulatedDisk(1);
    final Random random = new Random(1);
    boolean bootstrap = true;
    int memberId = 1;
    Replay replay = new Replay();
    Recovered recovered;

    LogOptions options() {
        return options(Runnable::run);
    }

    LogOptions options(Executor background) {
        return LogOptions.builder(() -> 1, () -> 1, background, (delayMs, action) -> {}, cause -> {})
                .segmentWork(Runnable::run)
                .clusterIds(() -> CLUSTER)
                .directoryIds(random::nextLong)
                .bootstrap(bootstrap)
                .memberId(memberId)
                .segmentBytes(SEGMENT_BYTES)
                .maxEntryBytes(4 * 1024)
                .maxBatchBytes(8 * 1024)
                .snapshotsKept(2)
                .build();
    }

    FileStore open() throws IOException {
        return FileStore.open(disk, options(), Runnable::run);
    }

    FileStore start() throws IOException {
        FileStore store = open();
        replay = new Replay();
        recovered = store.recover(replay);
        return store;
    }

    static LogBatch batch(long term, long firstIndex, int entries, int bytes) {
        List<LogEntry> list = new ArrayList<>();
        for (int i = 0; i < entries; i++) {
            byte[] payload = new byte[bytes];
            Arrays.fill(payload, (byte) term);
            list.add(new LogEntry(LogEntryKind.APPLICATION, new Origin(2, 7, firstIndex + i), payload));
        }
        return new LogBatch(term, firstIndex, 1_000 + firstIndex, list);
    }

    static List<LogBatch> batches(long term, long firstIndex, int count, int bytes) {
        List<LogBatch> list = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            list.add(batch(term, firstIndex + i, 1, bytes));
        }
        return list;
    }

    static void append(FileStore store, List<LogBatch> batches, long commitIndex) throws IOException {
        Appended outcome = store.append(batches, commitIndex);
        while (outcome == Appended.WAIT) {
            outcome = store.append(batches, commitIndex);
        }
        assertEquals(Appended.DONE, outcome);
    }

    static SnapshotPosition position(long index, long term) {
        return new SnapshotPosition(term, index, 77, LogState.INITIAL);
    }

    /** The bytes of a snapshot, as another member sends them. */
    static byte[] snapshot(long index, long term, long state) throws IOException {
        return snapshot(position(index, term), state);
    }

    static byte[] snapshot(SnapshotPosition position, long state) throws IOException {
        return SentSnapshot.bytes(CLUSTER, position, state);
    }

    static void install(FileStore store, byte[] bytes, long index, long term) throws IOException {
        IncomingSnapshot incoming = store.receive(index, term, bytes.length);
        incoming.write(Arrays.copyOf(bytes, 10));
        assertEquals(10, incoming.received());
        incoming.write(Arrays.copyOfRange(bytes, 10, bytes.length));
        incoming.verify();
        incoming.install();
    }
}
