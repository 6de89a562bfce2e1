package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.LogException;
import io.conclave.consensus.disk.PowerFailure;
import io.conclave.consensus.disk.SimulatedDisk;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.ConfigurationCodec;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.LogState;
import io.conclave.consensus.entry.Origin;
import io.conclave.consensus.store.LogStore.Appended;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * What an ensemble's member asks of its files beyond what a single one does; see {@link FileStoreSnapshotTest} and
 * {@link ReceivedSnapshotTest} for snapshots.
 */
class FileStoreTest extends FileStoreFixture {
    @Test
    void damageOfTheLastBatchIsNoTornTailIfItChangesTheConfiguration() throws IOException {
        FileStore store = start();
        append(store, batches(0, 1, 1, 100), 0);
        byte[] payload = ConfigurationCodec.encode(ClusterConfiguration.NONE);
        LogEntry change = new LogEntry(LogEntryKind.CONFIGURATION, Origin.NONE, payload);
        append(store, List.of(new LogBatch(0, 2, 1_002, List.of(change))), 1);
        disk.kill();
        disk.flipBit("segment-0000000000000001.log", 512 + 512 + 110);
        DamagedLogException e = assertThrows(DamagedLogException.class, this::start);
        assertEquals(512 + 512, e.offset());
    }

    // ---- giving the log away

    private static void snapshot(FileStore store, long index) {
        store.applied(position(index, 1), () -> out -> out.write(1));
        store.snapshotSoon();
    }

    @Test
    void theLogBehindAnIndexIsReadWhileItIsWrittenAndPurged() throws IOException {
        FileStore store = start();
        append(store, batches(1, 1, 50, 2_000), 50);
        snapshot(store, 50);
        StoredLog log = store.openLog(50, 0).orElseThrow();
        int before = segments();
        List<LogBatch> read = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            int first = 51 + i * 20;
            append(store, batches(1, first, 20, 2_000), first + 19);
            snapshot(store, first + 19);
            if (i % 3 == 2) {
                List<LogBatch> next = log.read(first + 10, 10_000);
                assertTrue(next.stream().mapToLong(LogBatch::payloadBytes).sum() <= 10_000);
                read.addAll(next);
            }
        }
        while (read.get(read.size() - 1).lastIndex() < 250) {
            read.addAll(log.read(250, 10_000));
        }
        for (int i = 0; i < read.size(); i++) {
            assertEquals(51 + i, read.get(i).firstIndex());
        }
        int kept = segments();
        assertTrue(kept > before + 5, kept + " after " + before);
        log.close();
        snapshot(store, 250);
        append(store, batches(1, 251, 1, 100), 251);
        snapshot(store, 251);
        assertTrue(segments() < kept, () -> kept + ": " + disk.list());
        assertTrue(store.openLog(50, 0).isEmpty());
        assertTrue(store.openLog(252, 0).isEmpty());
    }

    @Test
    void theLogBehindItsEndIsWhatIsWrittenNext() throws IOException {
        FileStore store = start();
        append(store, batches(1, 1, 3, 100), 3);
        StoredLog log = store.openLog(3, 0).orElseThrow();
        append(store, batches(1, 4, 40, 2_000), 43);
        assertEquals(4, log.read(43, 1).get(0).firstIndex());
        assertEquals(39, log.read(43, Long.MAX_VALUE).size());
    }

    @Test
    void aFullDiskDoesNotKeepTheLogForReaders() throws IOException {
        FileStore store = start();
        append(store, batches(1, 1, 10, 2_000), 10);
        StoredLog log = store.openLog(10, 0).orElseThrow();
        for (int first = 11; first < 200; first += 20) {
            append(store, batches(1, first, 20, 2_000), first + 19);
            snapshot(store, first + 19);
        }
        int kept = segments();
        disk.capacity(disk.used());
        Appended outcome = Appended.DONE;
        for (int first = 211; outcome == Appended.DONE; first++) {
            outcome = store.append(batches(1, first, 1, 2_000), first);
        }
        assertTrue(segments() < kept, segments() + " of " + kept);
        assertThrows(IOException.class, () -> log.read(200, Long.MAX_VALUE));
    }

    // ---- whose it is

    @Test
    void anEmptyDirectoryOfAnEnsembleWaitsUntilItIsAdopted() throws IOException {
        bootstrap = false;
        FileStore store = open();
        assertFalse(store.isMember());
        assertEquals(0, store.directory());
        assertThrows(IllegalStateException.class, () -> store.recover(new Replay()));
        store.adopt(CLUSTER);
        assertTrue(store.isMember());
        assertFalse(store.isBootstrappedHere());
        long directory = store.directory();
        assertNotEquals(0, directory);
        assertThrows(IllegalStateException.class, () -> store.adopt(CLUSTER));
        disk.losePower();
        FileStore again = start();
        assertEquals(directory, again.directory());
        assertEquals(CLUSTER, again.clusterId());
        assertEquals(0, recovered.term());
        disk.kill();
        memberId = 2;
        LogException e = assertThrows(LogException.class, this::open);
        assertTrue(e.getMessage().contains("belongs to member 1"), e.getMessage());
    }

    @Test
    void aDamagedLogThatIsSetAsideLeavesAnEmptyMember() throws IOException {
        FileStore store = start();
        long directory = store.directory();
        append(store, batches(0, 1, 3, 100), 1);
        assertThrows(LogException.class, () -> LogDirectory.setAside(disk), "in use");
        disk.kill();
        List<String> names = LogDirectory.setAside(disk);
        assertEquals(3, names.size(), names.toString());
        assertThrows(LogException.class, () -> LogDirectory.setAside(disk), "there is nothing any more");
        LogException e = assertThrows(LogException.class, this::open);
        assertTrue(e.getMessage().contains("was set aside"), e.getMessage());
        bootstrap = false;
        FileStore fresh = open();
        assertFalse(fresh.isMember());
        fresh.adopt(CLUSTER);
        fresh.recover(new Replay());
        assertNotEquals(directory, fresh.directory());
        append(fresh, batches(1, 1, 1, 100), 0);
        disk.kill();
        assertTrue(LogDirectory.setAside(disk).get(0).startsWith("set-aside-2-"));
    }

    @Test
    void aSettingAsideThatWasInterruptedIsCompletedByTheNext() throws IOException {
        append(start(), batches(0, 1, 20, 4_000), 1);
        bootstrap = false;
        int files = disk.list().size();
        for (int step = 1; step < 2 * files - 2; step++) {
            SimulatedDisk copy = new SimulatedDisk(step);
            disk.list().forEach(name -> copy.put(name, disk.bytes(name)));
            copy.failAfter(step);
            assertThrows(PowerFailure.class, () -> LogDirectory.setAside(copy));
            copy.losePower();
            if (copy.list().contains(VoteFile.NAME)) {
                LogDirectory.setAside(copy);
            }
            assertFalse(FileStore.open(copy, options(), Runnable::run).isMember());
        }
    }

    // ---- what is committed

    @Test
    void onlyWhatAHeaderOrACleanCloseSaysIsCommittedIsGivenAway() throws IOException {
        FileStore store = start();
        store.vote(3, 2);
        append(store, List.of(batch(3, 1, 1, 10), batch(3, 2, 2, 10)), 0);
        append(store, List.of(batch(3, 4, 1, 10)), 1);
        append(store, List.of(batch(3, 5, 1, 10), batch(3, 6, 1, 10)), 3);
        disk.losePower();
        store = start();
        assertEquals(3, recovered.term());
        assertEquals(2, recovered.votedFor());
        assertEquals(3, recovered.lastCommitted());
        assertEquals(3, recovered.lastCommittedTerm());
        assertEquals(3, replay.lastIndex());
        assertEquals(
                Model.fingerprints(List.of(batch(3, 4, 1, 10), batch(3, 5, 1, 10), batch(3, 6, 1, 10))),
                Model.fingerprints(recovered.rest()));
        assertFalse(recovered.cut());
        store.applied(new SnapshotPosition(3, 5, 1, LogState.INITIAL), () -> out -> {});
        store.stopped();
        store.close(true);
        start();
        assertEquals(5, recovered.lastCommitted());
    }

    @Test
    void batchesThatDoNotFollowAreRefusedBeforeAnythingIsWritten() throws IOException {
        FileStore store = start();
        append(store, batches(2, 1, 2, 10), 0);
        assertThrows(IllegalArgumentException.class, () -> store.append(List.of(batch(2, 4, 1, 10)), 0));
        assertThrows(IllegalArgumentException.class, () -> store.append(List.of(batch(1, 3, 1, 10)), 0));
        assertThrows(
                IllegalArgumentException.class, () -> store.append(List.of(batch(2, 3, 1, 10), batch(2, 5, 1, 10)), 0));
        append(store, List.of(batch(2, 3, 1, 10)), 0);
    }

    @Test
    void batchesThatNeedSeveralSegmentsWaitForAllOfThem() throws IOException {
        FileStore store = start();
        List<LogBatch> many = batches(1, 1, 30, 4_000);
        int waited = 0;
        while (store.append(many, 0) == Appended.WAIT) {
            waited++;
        }
        assertTrue(waited >= 4, waited + " segments");
        disk.losePower();
        start();
        assertEquals(Model.fingerprints(many), Model.fingerprints(recovered.rest()));
    }

    // ---- cutting

    @Test
    void aCutAcrossSegmentsLeavesSparesAndNothingOfItComesBack() throws IOException {
        FileStore store = start();
        store.vote(1, 1);
        append(store, batches(1, 1, 40, 3_000), 3);
        int segments = segments();
        store.cutAfter(4);
        assertEquals(segments, segments());
        store.vote(2, 3);
        append(store, batches(2, 5, 2, 100), 3);
        disk.losePower();
        store = start();
        assertEquals(2, recovered.term());
        assertEquals(3, recovered.lastCommitted());
        assertFalse(recovered.cut());
        List<LogBatch> expected = new ArrayList<>(batches(1, 4, 1, 3_000));
        expected.addAll(batches(2, 5, 2, 100));
        assertEquals(Model.fingerprints(expected), Model.fingerprints(recovered.rest()));
        append(store, batches(2, 7, 40, 3_000), 3);
        disk.losePower();
        start();
        assertEquals(43, recovered.rest().size());
    }

    private int segments() {
        return (int) disk.list().stream().filter(name -> Segment.idOf(name) > 0).count();
    }

    @Test
    void committedEntriesCannotBeCutNorCanABatchBeDivided() throws IOException {
        FileStore store = start();
        append(store, List.of(batch(1, 1, 2, 10), batch(1, 3, 2, 10), batch(1, 5, 2, 10)), 2);
        assertThrows(IllegalStateException.class, () -> store.cutAfter(0));
        assertThrows(IllegalArgumentException.class, () -> store.cutAfter(3));
        assertThrows(IllegalArgumentException.class, () -> store.cutAfter(7));
        store.cutAfter(6);
        store.cutAfter(4);
        store.cutAfter(2);
        append(store, List.of(batch(2, 3, 1, 10)), 2);
    }

    @Test
    void theWholeLogCanBeCutAndBeginAgain() throws IOException {
        FileStore store = start();
        append(store, batches(1, 1, 30, 3_000), 0);
        store.cutAfter(0);
        disk.losePower();
        store = start();
        assertEquals(List.of(), recovered.rest());
        append(store, batches(2, 1, 30, 3_000), 0);
        disk.losePower();
        start();
        assertEquals(30, recovered.rest().size());
    }

    /**
     * Found by the simulation: reading began in the segment behind the snapshot, so the log seemed to end there, not
     * before.
     */
    @Test
    void aCutOfAllThatFollowsASnapshotAtTheEndOfASegmentIsNoDamage() throws IOException {
        FileStore store = start();
        store.vote(1, 1);
        append(store, batches(1, 1, 7, 4_000), 5);
        store.applied(position(5, 1), () -> Replay.snapshotOf(5));
        store.snapshotSoon();
        disk.kill();
        store = start();
        assertEquals(5, replay.snapshot.lastIndex());
        assertEquals(2, recovered.rest().size());
        String second = Segment.name(2);
        assertEquals(
                6,
                BatchHeader.read(ByteBuffer.wrap(disk.bytes(second), 512, 512).slice(), CLUSTER, 2)
                        .orElseThrow()
                        .firstIndex());
        store.cutAfter(5);
        disk.kill();
        store = start();
        assertEquals(List.of(), recovered.rest());
        append(store, batches(2, 6, 2, 4_000), 5);
        disk.kill();
        start();
        assertEquals(2, recovered.rest().size());
    }

    // ---- full disks

    @Test
    void aClusterDoesNotBeginOnAFullDiskAndSaysWhere() throws IOException {
        for (int room : new int[] {0, 9_000}) { // for nothing, and for all but a segment
            disk.capacity(disk.used() + room);
            LogException e = assertThrows(LogException.class, this::start);
            disk.kill();
            assertTrue(
                    e.getMessage().startsWith("a cluster cannot begin in simulated: no room for simulated/"),
                    e::getMessage);
            assertTrue(e.getMessage().contains("bytes are free"), e::getMessage);
            assertTrue(e.getMessage().endsWith("needs " + options().firstSegmentBytes() + " bytes"), e::getMessage);
        }
        disk.capacity(Long.MAX_VALUE);
        append(start(), batches(1, 1, 3, 100), 0);
    }

    /** It had been given its identity, and its process ended before it had a segment. */
    @Test
    void aMemberWithoutASegmentStartsOnAFullDiskVotesAndWritesWhenThereIsRoom() throws IOException {
        bootstrap = false;
        FileStore store = open();
        store.adopt(CLUSTER);
        disk.kill();
        disk.delete(Segment.name(1));
        disk.capacity(disk.used());
        store = start();
        store.vote(3, 2);
        assertEquals(Appended.WAIT, store.append(batches(3, 1, 2, 100), 0));
        assertEquals(Appended.FULL, store.append(batches(3, 1, 2, 100), 0));
        disk.kill();
        store = start();
        assertEquals(3, recovered.term());
        assertEquals(2, recovered.votedFor());
        disk.capacity(Long.MAX_VALUE);
        append(store, batches(3, 1, 2, 100), 0);
        disk.kill();
        start();
        assertEquals(2, recovered.rest().size());
    }
}
