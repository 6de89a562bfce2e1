package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogOptions;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import io.conclave.consensus.disk.ForwardingDisk;
import io.conclave.consensus.disk.SimulatedDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Snapshots that a member makes: when, for whom, and what comes after one that is damaged. */
class FileStoreSnapshotTest extends FileStoreFixture {
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
        FileStore store = withSnapshot(disk, work);
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
        FileStore store = withSnapshot(disk, work);
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

    /** As where the process has too many files open. */
    @Test
    void aSnapshotIsNotTakenForDamagedWhenNoFileCanBeOpened() throws IOException {
        CrowdedDisk crowded = new CrowdedDisk(disk);
        List<Runnable> work = new ArrayList<>();
        FileStore store = withSnapshot(crowded, work);
        store.suspectSnapshot(3);
        crowded.unopened = name -> true;
        work.remove(0).run();
        crowded.unopened = name -> false;
        assertTrue(disk.list().contains(SnapshotFile.name(3)));
        try (StoredSnapshot newest = store.openNewestSnapshot()) {
            assertEquals(3, newest.lastIndex());
        }
    }

    @Test
    void aSnapshotThatAloneCannotBeOpenedIsSetAside() throws IOException {
        CrowdedDisk crowded = new CrowdedDisk(disk);
        List<Runnable> work = new ArrayList<>();
        FileStore store = withSnapshot(crowded, work);
        store.suspectSnapshot(3);
        crowded.unopened = SnapshotFile.name(3)::equals;
        work.remove(0).run();
        assertTrue(disk.list().contains(SnapshotFile.name(3) + LogFormat.DAMAGED));
    }

    private static final class CrowdedDisk extends ForwardingDisk {
        private Predicate<String> unopened = name -> false;

        CrowdedDisk(Disk disk) {
            super(disk);
        }

        @Override
        public DiskFile open(String name) throws IOException {
            if (unopened.test(name)) {
                throw new FileSystemException(name, null, "Too many open files");
            }
            return super.open(name);
        }

        @Override
        protected DiskFile wrap(String name, DiskFile file) {
            return file;
        }
    }

    /** Before, two long tasks of the background kept the next segment waiting, and writes with it. */
    @Test
    void theNextSegmentDoesNotWaitForTheBackground() throws IOException {
        List<Runnable> work = new ArrayList<>();
        FileStore store = withSnapshot(disk, work);
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

    /** Its newest snapshot ends at index 3. */
    private FileStore withSnapshot(Disk on, List<Runnable> work) throws IOException {
        FileStore store = FileStore.open(on, options(work::add), Runnable::run);
        store.recover(replay);
        takeSnapshot(store, work);
        return store;
    }

    private static void takeSnapshot(FileStore store, List<Runnable> work) throws IOException {
        assertEquals(LogStore.Appended.DONE, store.append(batches(1, 1, 3, 100), 3));
        store.applied(position(3, 1), () -> Replay.snapshotOf(5));
        store.snapshotSoon();
        work.remove(0).run();
    }
}
