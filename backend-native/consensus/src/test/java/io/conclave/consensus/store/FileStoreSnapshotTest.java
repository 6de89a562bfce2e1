package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import io.conclave.consensus.disk.ForwardingDisk;
import io.conclave.consensus.disk.SimulatedDisk;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogState;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Snapshots that a member receives from another, and makes for one. */
class FileStoreSnapshotTest extends FileStoreFixture {
    private byte[] snapshot(long index, long term, long state) throws IOException {
        return snapshot(position(index, term), state);
    }

    private static byte[] snapshot(SnapshotPosition position, long state) throws IOException {
        MemoryDisk sender = new MemoryDisk();
        long index = position.lastIndex();
        SnapshotFile.write(sender, CLUSTER, position, Replay.snapshotOf(state), () -> false);
        try (StoredSnapshot stored = new OpenSnapshot(position, sender.open(SnapshotFile.name(index)))) {
            ByteBuffer bytes = ByteBuffer.allocate((int) stored.length());
            stored.read(bytes, 0);
            return bytes.array();
        }
    }

    private static IncomingSnapshot received(FileStore store, byte[] bytes, long index, long term) throws IOException {
        IncomingSnapshot incoming = store.receive(index, term, bytes.length);
        incoming.write(bytes);
        incoming.verify();
        return incoming;
    }

    private static void install(FileStore store, byte[] bytes, long index, long term) throws IOException {
        IncomingSnapshot incoming = store.receive(index, term, bytes.length);
        incoming.write(Arrays.copyOf(bytes, 10));
        assertEquals(10, incoming.received());
        incoming.write(Arrays.copyOfRange(bytes, 10, bytes.length));
        incoming.verify();
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
        assertEquals(position(1_000, 4), incoming.verify());
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
        assertThrows(LogException.class, () -> damaged.verify());
        assertThrows(IllegalStateException.class, damaged::install);
        byte[] whole = snapshot(9, 4, 99);
        IncomingSnapshot other = store.receive(8, 4, whole.length);
        other.write(whole);
        assertThrows(LogException.class, () -> other.verify(), "it is another one than was announced");
        IncomingSnapshot unfinished = store.receive(9, 4, whole.length + 1);
        unfinished.write(whole);
        assertThrows(LogException.class, () -> unfinished.verify());
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
        assertThrows(CancelledException.class, () -> first.write(bytes));
        assertThrows(IllegalStateException.class, () -> first.verify());
        second.write(bytes);
        second.verify();
        first.discard();
        second.install();
        second.read(in -> assertEquals(99, readState(in)));
        disk.losePower();
        start();
        assertEquals(99, replay.state);
    }

    @Test
    void oneThatIsReplacedWhileItIsVerifiedDoesNotTakeTheNextOneWithIt() throws IOException {
        Runnable[] beforeName = {() -> {}};
        Disk watched = new ForwardingDisk(disk) {
            @Override
            protected DiskFile wrap(String name, DiskFile file) {
                return file;
            }

            @Override
            public void rename(String from, String to) throws IOException {
                beforeName[0].run();
                super.rename(from, to);
            }
        };
        FileStore store = FileStore.open(watched, options(), Runnable::run);
        store.recover(replay);
        append(store, batches(1, 1, 3, 100), 2);
        byte[] bytes = snapshot(9, 4, 99);
        IncomingSnapshot first = store.receive(9, 4, bytes.length);
        first.write(bytes);
        IncomingSnapshot[] second = new IncomingSnapshot[1];
        beforeName[0] = () -> {
            beforeName[0] = () -> {};
            try {
                second[0] = store.receive(9, 4, bytes.length);
                second[0].write(bytes);
                second[0].verify();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        };
        assertThrows(CancelledException.class, first::verify);
        second[0].install();
        disk.losePower();
        start();
        assertEquals(99, replay.state);
    }

    @Test
    void theReadingOfOneThatIsReplacedByTheNextEnds() throws IOException {
        FileStore store = start();
        byte[] bytes = snapshot(9, 4, 99);
        IncomingSnapshot first = received(store, bytes, 9, 4);
        first.install();
        byte[] next = snapshot(12, 4, 100);
        UncheckedIOException ended = assertThrows(
                UncheckedIOException.class,
                () -> first.read(in -> {
                    try {
                        in.read();
                        IncomingSnapshot second = received(store, next, 12, 4);
                        second.install();
                        first.discard();
                        second.read(state -> assertEquals(100, readState(state)));
                        in.readAllBytes();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                }));
        assertInstanceOf(CancelledException.class, ended.getCause());
        disk.losePower();
        start();
        assertEquals(100, replay.state);
    }

    @Test
    void anInstalledSnapshotStaysTheLogsWhenItsReadingIsCancelled() throws IOException {
        FileStore store = start();
        IncomingSnapshot installed = received(store, snapshot(9, 4, 99), 9, 4);
        installed.install();
        installed.discard();
        assertThrows(CancelledException.class, () -> installed.read(in -> {}));
        disk.losePower();
        start();
        assertEquals(99, replay.state);
    }

    @Test
    void oneOfUnknownFeaturesIsRefusedBeforeTheLogIsGone() throws IOException {
        FileStore store = start();
        append(store, batches(1, 1, 3, 100), 2);
        LogState ofTomorrow = new LogState(ClusterConfiguration.NONE, 0, 1_000, Map.of());
        byte[] bytes = snapshot(new SnapshotPosition(4, 9, 77, ofTomorrow), 99);
        IncomingSnapshot unknown = store.receive(9, 4, bytes.length);
        unknown.write(bytes);
        LogException refused = assertThrows(LogException.class, unknown::verify);
        assertTrue(refused.getMessage().contains("feature level 1000"), refused.getMessage());
    }

    /** It holds on to the state that the received one replaces. */
    @Test
    void aSnapshotThatIsBeingWrittenIsGivenUpForAReceivedOne() throws IOException {
        List<Runnable> work = new ArrayList<>();
        FileStore store = FileStore.open(disk, options(work::add), Runnable::run);
        store.recover(replay);
        append(store, batches(1, 1, 3, 100), 2);
        work.clear();
        store.applied(position(2, 1), () -> out -> {
            for (int i = 0; i < 100; i++) {
                out.write(new byte[100_000]);
            }
            throw new AssertionError("written to its end");
        });
        store.snapshotSoon();
        assertTrue(store.isWritingSnapshot());
        received(store, snapshot(9, 4, 99), 9, 4).install();
        assertTrue(store.isWritingSnapshot());
        List.copyOf(work).forEach(Runnable::run);
        assertFalse(store.isWritingSnapshot());
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

    /** The store has no state to take another one from until what was received is read. */
    @Test
    void aReceivedSnapshotThatIsDamagedBeforeItIsReadIsTakenAgainOnceItsStateIsHere() throws IOException {
        List<Runnable> work = new ArrayList<>();
        FileStore store = FileStore.open(disk, options(work::add), Runnable::run);
        store.recover(replay);
        install(store, snapshot(9, 4, 99), 9, 4);
        String name = SnapshotFile.name(9);
        disk.flipBit(name, 60);
        work.clear();
        store.suspectSnapshot(9);
        work.remove(0).run();
        assertTrue(disk.list().contains(name + LogFormat.DAMAGED));
        assertNull(store.openNewestSnapshot());
        store.applied(position(9, 4), () -> Replay.snapshotOf(99));
        List.copyOf(work).forEach(Runnable::run);
        try (StoredSnapshot newest = store.openNewestSnapshot()) {
            assertEquals(9, newest.lastIndex());
        }
    }

    @Test
    void oneThatWasWrittenInVainDoesNotTakeThePlaceOfADamagedReceivedOne() throws IOException {
        List<Runnable> work = new ArrayList<>();
        List<Runnable> outcomes = new ArrayList<>();
        FileStore store = FileStore.open(disk, options(work::add), outcomes::add);
        store.recover(replay);
        append(store, batches(1, 1, 3, 100), 2);
        work.clear();
        store.applied(position(2, 1), () -> Replay.snapshotOf(5));
        store.snapshotSoon();
        work.remove(0).run();
        install(store, snapshot(9, 4, 99), 9, 4);
        disk.flipBit(SnapshotFile.name(9), 60);
        work.clear();
        store.suspectSnapshot(9);
        work.remove(0).run();
        Collections.reverse(outcomes);
        List.copyOf(outcomes).forEach(Runnable::run);
        assertNull(store.openNewestSnapshot());
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

    @Test
    void membersTakeTheirSnapshotsAtDifferentPlaces() throws IOException {
        Set<Long> places = new HashSet<>();
        for (int member = 1; member <= 5; member++) {
            long place = placeOfTheFirstSnapshot(new SimulatedDisk(member), 0);
            assertTrue(place > 50 && place <= 100, "at " + place);
            places.add(place);
        }
        assertTrue(places.size() >= 4, places::toString);
    }

    @Test
    void aLargeStateIsNotWrittenAgainForALittleLog() throws IOException {
        long small = placeOfTheFirstSnapshot(new SimulatedDisk(1), 1_000);
        long large = placeOfTheFirstSnapshot(new SimulatedDisk(1), 3_000_000);
        assertTrue(small <= 200 && large > 300, small + " and " + large);
    }

    /** Of the second one, if the first, of entry 1, has so many bytes. */
    private long placeOfTheFirstSnapshot(SimulatedDisk on, int stateBytes) throws IOException {
        LogOptions often = LogOptions.builder(() -> 1, () -> 1, Runnable::run, (delayMs, action) -> {}, cause -> {})
                .directoryIds(random::nextLong)
                .segmentBytes(1 << 20)
                .maxEntryBytes(4 * 1024)
                .maxBatchBytes(8 * 1024)
                .snapshotEveryEntries(100)
                .build();
        FileStore store = FileStore.open(on, often, Runnable::run);
        store.recover(new Replay());
        long index = 0;
        while (true) {
            index++;
            assertEquals(LogStore.Appended.DONE, store.append(List.of(batch(1, index, 1, 700)), index));
            store.applied(position(index, 1), () -> out -> out.write(new byte[stateBytes]));
            if (index == 1 && stateBytes > 0) {
                store.snapshotSoon();
            }
            try (StoredSnapshot newest = store.openNewestSnapshot()) {
                if (newest != null && newest.lastIndex() > 1) {
                    return newest.lastIndex();
                }
            }
        }
    }

    @Test
    void aSnapshotIsSyncedWhileItIsWritten() throws IOException {
        List<Long> unsynced = new ArrayList<>(List.of(0L));
        Disk counting = new ForwardingDisk(new MemoryDisk()) {
            @Override
            protected DiskFile wrap(String name, DiskFile file) {
                return new ForwardingFile(file) {
                    private long written;

                    @Override
                    public void write(ByteBuffer source, long position) throws IOException {
                        written += source.remaining();
                        unsynced.add(written);
                        super.write(source, position);
                    }

                    @Override
                    public void sync() throws IOException {
                        written = 0;
                        super.sync();
                    }
                };
            }
        };
        SnapshotFile.write(counting, CLUSTER, position(3, 1), out -> out.write(new byte[40_000_000]), () -> false);
        assertTrue(Collections.max(unsynced) <= 9_000_000, unsynced::toString);
        ReceivedSnapshot received = new ReceivedSnapshot(
                counting,
                CLUSTER,
                0,
                new ReceivedSnapshot.Announced(3, 1, 40_000_000),
                "received",
                (position, name) -> {},
                names -> {});
        unsynced.clear();
        for (int i = 0; i < 40; i++) {
            received.write(new byte[1_000_000]);
        }
        assertTrue(Collections.max(unsynced) <= 9_000_000, unsynced::toString);
    }

    private static void takeSnapshot(FileStore store, List<Runnable> work) throws IOException {
        assertEquals(LogStore.Appended.DONE, store.append(batches(1, 1, 3, 100), 3));
        store.applied(position(3, 1), () -> Replay.snapshotOf(5));
        store.snapshotSoon();
        work.remove(0).run();
    }
}
