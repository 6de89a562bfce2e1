package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogOptions;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.LogState;
import io.conclave.consensus.entry.Origin;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class MemoryLogStoreTest {
    private static final UUID CLUSTER = new UUID(5, 6);

    private final Deque<Runnable> background = new ArrayDeque<>();

    private MemoryLogStore store(boolean bootstrap) {
        LogOptions options = LogOptions.builder(() -> 1, () -> 1, background::add, (delayMs, action) -> {}, cause -> {})
                .clusterIds(() -> CLUSTER)
                .bootstrap(bootstrap)
                .build();
        return new MemoryLogStore(options, Runnable::run);
    }

    private static LogBatch batch(long firstIndex, int entries) {
        LogEntry entry = new LogEntry(LogEntryKind.APPLICATION, Origin.NONE, new byte[10]);
        return new LogBatch(1, firstIndex, 1, Collections.nCopies(entries, entry));
    }

    private static SnapshotPosition position(long index) {
        return new SnapshotPosition(1, index, 1, LogState.INITIAL);
    }

    @Test
    void eachStartIsThatOfANewDirectory() {
        MemoryLogStore bootstrapped = store(true);
        assertTrue(bootstrapped.isMember() && bootstrapped.isBootstrappedHere());
        assertEquals(CLUSTER, bootstrapped.clusterId());
        assertNotEquals(bootstrapped.directory(), store(true).directory());
        MemoryLogStore empty = store(false);
        assertFalse(empty.isMember());
        assertThrows(IllegalStateException.class, () -> empty.recover(new Replay()));
        empty.adopt(new UUID(1, 2));
        assertTrue(empty.isMember() && !empty.isBootstrappedHere());
        assertNotEquals(0, empty.directory());
        assertEquals(0, empty.recover(new Replay()).lastCommitted());
    }

    @Test
    void cutsFollowTheRulesOfTheFiles() {
        MemoryLogStore store = store(true);
        store.append(List.of(batch(1, 2), batch(3, 2), batch(5, 1)), 2);
        assertThrows(IllegalStateException.class, () -> store.cutAfter(0));
        assertThrows(IllegalArgumentException.class, () -> store.cutAfter(3));
        store.cutAfter(4);
        assertThrows(IllegalArgumentException.class, () -> store.append(List.of(batch(6, 1)), 2));
        store.append(List.of(batch(5, 3)), 7);
        assertThrows(IllegalStateException.class, () -> store.cutAfter(4));
    }

    @Test
    void aSnapshotGoesFromOneToTheOther() throws IOException {
        MemoryLogStore sender = store(true);
        sender.append(List.of(batch(1, 9)), 9);
        assertEquals(null, sender.openNewestSnapshot());
        sender.applied(position(9), () -> out -> out.write(new byte[600_000]));
        assertTrue(background.isEmpty(), "none without being asked");
        sender.snapshotSoon();
        background.poll().run();
        MemoryLogStore receiver = store(false);
        receiver.adopt(CLUSTER);
        receiver.append(List.of(batch(1, 2)), 0);
        try (StoredSnapshot stored = sender.openNewestSnapshot()) {
            assertEquals(9, stored.lastIndex());
            assertEquals(1, stored.lastTerm());
            IncomingSnapshot incoming = receiver.receive(9, 1, stored.length());
            ByteBuffer chunk = ByteBuffer.allocate(100_000);
            while (incoming.received() < stored.length()) {
                int count = stored.read(chunk.clear(), incoming.received());
                incoming.write(Arrays.copyOf(chunk.array(), count));
            }
            long[] bytes = new long[1];
            assertEquals(position(9), incoming.verify());
            incoming.install();
            incoming.read(in -> {
                try {
                    bytes[0] = in.readAllBytes().length;
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            assertEquals(600_000, bytes[0]);
        }
        receiver.append(List.of(batch(10, 1)), 9);
        assertThrows(IllegalStateException.class, () -> receiver.cutAfter(8));
        receiver.cutAfter(9);
        try (StoredSnapshot passedOn = receiver.openNewestSnapshot()) {
            assertEquals(9, passedOn.lastIndex());
        }
    }

    @Test
    void aSnapshotIsNotMadeTwiceOfTheSameState() throws IOException {
        MemoryLogStore store = store(true);
        store.append(List.of(batch(1, 9)), 9);
        store.applied(position(9), () -> out -> {});
        store.snapshotSoon();
        store.snapshotSoon();
        assertEquals(1, background.size());
        assertFalse(store.stopped(), "one is being written");
        background.poll().run();
        assertTrue(store.stopped());
    }
}
