package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Snapshots that a member receives from another, and makes for one. */
class FileStoreSnapshotTest extends FileStoreFixture {
    private byte[] snapshot(long index, long term, long state) throws IOException {
        MemoryDisk sender = new MemoryDisk();
        SnapshotPosition position = position(index, term);
        SnapshotFile.write(sender, CLUSTER, position, Replay.snapshotOf(state), () -> false);
        try (StoredSnapshot stored = new OpenSnapshot(position, sender.open(SnapshotFile.name(index)))) {
            ByteBuffer bytes = ByteBuffer.allocate((int) stored.length());
            stored.read(bytes, 0);
            return bytes.array();
        }
    }

    private static void install(FileStore store, byte[] bytes, long index, long term) throws IOException {
        IncomingSnapshot incoming = store.receive(index, term, bytes.length);
        incoming.write(Arrays.copyOf(bytes, 10));
        assertEquals(10, incoming.received());
        incoming.write(Arrays.copyOfRange(bytes, 10, bytes.length));
        incoming.verify(in -> {});
        incoming.install();
    }

    @Test
    void anInstalledSnapshotReplacesTheLogWhichGoesOnBehindIt() throws IOException {
        FileStore store = start();
        append(store, batches(1, 1, 20, 3_000), 2);
        install(store, snapshot(1_000, 4, 99), 1_000, 4);
        disk.losePower();
        store = start();
        assertEquals(99, replay.state);
        assertEquals(1_000, recovered.lastCommitted());
        assertEquals(4, recovered.lastCommittedTerm());
        assertEquals(List.of(), recovered.rest());
        append(store, batches(4, 1_001, 20, 3_000), 1_000);
        disk.losePower();
        store = start();
        assertEquals(20, recovered.rest().size());
        assertFalse(disk.list().contains(Segment.name(1)));
        store.cutAfter(1_000);
        disk.losePower();
        store = start();
        assertEquals(List.of(), recovered.rest());
        try (StoredSnapshot newest = store.openNewestSnapshot()) {
            assertEquals(1_000, newest.lastIndex());
        }
    }

    @Test
    void aSnapshotThatWasReceivedAndNotInstalledIsForgotten() throws IOException {
        FileStore store = start();
        append(store, batches(1, 1, 3, 100), 2);
        byte[] bytes = snapshot(1_000, 4, 99);
        IncomingSnapshot incoming = store.receive(1_000, 4, bytes.length);
        incoming.write(bytes);
        assertEquals(position(1_000, 4), incoming.verify(in -> {}));
        disk.losePower();
        start();
        assertEquals(2, recovered.lastCommitted());
        assertEquals(1, recovered.rest().size());
        assertTrue(disk.list().stream().noneMatch(SnapshotFile::isReceived));
    }

    @Test
    void aSnapshotThatArrivedDamagedOrIsOldIsRefused() throws IOException {
        FileStore store = start();
        append(store, batches(1, 1, 5, 100), 5);
        byte[] bytes = snapshot(9, 4, 99);
        bytes[60] ^= 1;
        IncomingSnapshot damaged = store.receive(9, 4, bytes.length);
        damaged.write(bytes);
        assertThrows(LogException.class, () -> damaged.verify(in -> {}));
        assertThrows(IllegalStateException.class, damaged::install);
        byte[] whole = snapshot(9, 4, 99);
        IncomingSnapshot other = store.receive(8, 4, whole.length);
        other.write(whole);
        assertThrows(LogException.class, () -> other.verify(in -> {}), "it is another one than was announced");
        IncomingSnapshot unfinished = store.receive(9, 4, whole.length + 1);
        unfinished.write(whole);
        assertThrows(LogException.class, () -> unfinished.verify(in -> {}));
        assertThrows(IllegalStateException.class, () -> install(store, snapshot(5, 1, 1), 5, 1), "it is old");
        append(store, batches(4, 6, 1, 100), 5);
        disk.losePower();
        start();
        assertEquals(5, recovered.lastCommitted());
        assertEquals(1, recovered.rest().size());
    }

    @Test
    void aReceivedSnapshotIsReplacedByTheNext() throws IOException {
        FileStore store = start();
        byte[] bytes = snapshot(9, 4, 99);
        IncomingSnapshot first = store.receive(9, 4, bytes.length);
        first.write(bytes);
        IncomingSnapshot second = store.receive(9, 4, bytes.length);
        assertThrows(IllegalStateException.class, () -> first.write(bytes));
        assertThrows(IllegalStateException.class, () -> first.verify(in -> {}));
        second.write(bytes);
        second.verify(in -> assertEquals(99, readState(in)));
        first.discard();
        second.install();
        disk.losePower();
        start();
        assertEquals(99, replay.state);
    }

    @Test
    void oneThatIsReplacedWhileItIsVerifiedDoesNotTakeTheNextOneWithIt() throws IOException {
        FileStore store = start();
        append(store, batches(1, 1, 3, 100), 2);
        byte[] bytes = snapshot(9, 4, 99);
        IncomingSnapshot first = store.receive(9, 4, bytes.length);
        first.write(bytes);
        IncomingSnapshot[] second = new IncomingSnapshot[1];
        assertThrows(
                CancelledException.class,
                () -> first.verify(in -> {
                    try {
                        second[0] = store.receive(9, 4, bytes.length);
                        second[0].write(bytes);
                        second[0].verify(other -> {});
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                }));
        second[0].install();
        disk.losePower();
        start();
        assertEquals(99, replay.state);
    }

    private static long readState(InputStream in) {
        try {
            return Replay.read(in);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aSnapshotIsMadeSoonAndStaysReadableWhenItsFileIsDeleted() throws IOException {
        FileStore store = start();
        assertEquals(null, store.openNewestSnapshot());
        append(store, batches(1, 1, 3, 100), 2);
        store.applied(position(2, 1), () -> Replay.snapshotOf(5));
        store.snapshotSoon();
        try (StoredSnapshot held = store.openNewestSnapshot()) {
            assertEquals(2, held.lastIndex());
            install(store, snapshot(100, 4, 99), 100, 4);
            assertFalse(disk.list().contains(SnapshotFile.name(2)));
            ByteBuffer bytes = ByteBuffer.allocate((int) held.length());
            assertEquals(held.length(), held.read(bytes, 0));
        }
    }

    @Test
    void aSuspectedSnapshotThatIsSoundIsGivenAgain() throws IOException {
        List<Runnable> work = new ArrayList<>();
        FileStore store = FileStore.open(disk, options(work::add), Runnable::run);
        store.recover(replay);
        takeSnapshot(store, work);
        store.suspectSnapshot(3);
        assertNull(store.openNewestSnapshot());
        work.remove(0).run();
        try (StoredSnapshot newest = store.openNewestSnapshot()) {
            assertEquals(3, newest.lastIndex());
        }
    }

    @Test
    void aDamagedSnapshotIsSetAsideAndTakenAgain() throws IOException {
        List<Runnable> work = new ArrayList<>();
        FileStore store = FileStore.open(disk, options(work::add), Runnable::run);
        store.recover(replay);
        takeSnapshot(store, work);
        String name = SnapshotFile.name(3);
        disk.flipBit(name, 60);
        store.suspectSnapshot(3);
        work.remove(0).run();
        assertTrue(disk.list().contains(name + LogFormat.DAMAGED));
        assertNull(store.openNewestSnapshot());
        work.forEach(Runnable::run);
        try (StoredSnapshot newest = store.openNewestSnapshot()) {
            assertEquals(3, newest.lastIndex());
        }
        disk.losePower();
        start();
        assertEquals(3, recovered.lastCommitted());
    }

    /** Before, two long tasks of the background kept the next segment waiting, and writes with it. */
    @Test
    void theNextSegmentDoesNotWaitForTheBackground() throws IOException {
        List<Runnable> work = new ArrayList<>();
        FileStore store = FileStore.open(disk, options(work::add), Runnable::run);
        store.recover(replay);
        takeSnapshot(store, work);
        store.suspectSnapshot(3);
        for (long index = 4; index < 100; index++) {
            assertEquals(LogStore.Appended.DONE, store.append(List.of(batch(1, index, 1, 3_000)), index));
        }
        assertEquals(1, work.size());
    }

    @Test
    void onAFullDiskOneSoundSnapshotAndTheLogBehindItHaveToDo() throws IOException {
        FileStore store = start();
        fill(store, 1);
        assertEquals(2, whole().size());
        disk.capacity(disk.used());
        fill(store, 41);
        assertEquals(List.of(SnapshotFile.name(40)), whole());
        disk.losePower();
        disk.capacity(Long.MAX_VALUE);
        start();
        assertTrue(recovered.lastCommitted() > 40, recovered::toString);
    }

    @Test
    void onAFullDiskADamagedSnapshotIsNotTheOnlyOne() throws IOException {
        List<Runnable> work = new ArrayList<>();
        FileStore store = FileStore.open(disk, options(work::add), Runnable::run);
        store.recover(replay);
        for (long index = 1; index <= 20; index++) {
            store.append(List.of(batch(1, index, 1, 1_000)), index);
            if (index % 10 == 0) {
                store.applied(position(index, 1), () -> Replay.snapshotOf(9));
                store.snapshotSoon();
                work.remove(0).run();
            }
        }
        disk.flipBit(SnapshotFile.name(20), 60);
        disk.capacity(disk.used());
        while (store.append(List.of(batch(1, 21 + replay.batches.size(), 1, 3_000)), 20) == LogStore.Appended.DONE) {
            replay.batches.add(batch(1, 21 + replay.batches.size(), 1, 3_000));
        }
        while (!work.isEmpty()) {
            work.remove(0).run();
        }
        assertEquals(List.of(SnapshotFile.name(10)), whole());
    }

    private List<String> whole() {
        return disk.list().stream()
                .filter(name -> SnapshotFile.lastIndexOf(name) > 0)
                .sorted()
                .toList();
    }

    /** Writes some segments, or until the disk is full, with a snapshot of every tenth entry. */
    private void fill(FileStore store, long first) throws IOException {
        for (long index = first; index < first + 40; index++) {
            if (store.append(List.of(batch(1, index, 1, 3_000)), index) != LogStore.Appended.DONE) {
                return;
            }
            if (index % 10 == 0) {
                store.applied(position(index, 1), () -> Replay.snapshotOf(9));
                store.snapshotSoon();
            }
        }
    }

    private static void takeSnapshot(FileStore store, List<Runnable> work) throws IOException {
        assertEquals(LogStore.Appended.DONE, store.append(batches(1, 1, 3, 100), 3));
        store.applied(position(3, 1), () -> Replay.snapshotOf(5));
        store.snapshotSoon();
        work.remove(0).run();
    }
}
