package io.conclave.consensus;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.disk.SimulatedDisk;
import io.conclave.consensus.entry.EntryKind;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Damage, torn tails, full disks and the bytes of the format, step by step on a simulated disk. */
class LogFilesTest {
    private static final String FIRST = "segment-0000000000000001.log";

    private SimulatedDisk disk = new SimulatedDisk(1);
    private final Deque<Runnable> delayed = new ArrayDeque<>();
    private UUID cluster = new UUID(0x0123456789abcdefL, 0xfedcba9876543210L);
    private RecordingMachine machine = new RecordingMachine();
    private long snapshotEvery = 1_000;

    private LogLoop start() throws IOException {
        LogOptions options = LogOptions.builder(
                        () -> 1_700_000_000_000L,
                        () -> 1,
                        Runnable::run,
                        (delayMs, action) -> delayed.add(action),
                        cause -> {})
                .clusterIds(() -> cluster)
                .segmentBytes(32 * 1024)
                .maxEntryBytes(4 * 1024)
                .maxBatchBytes(8 * 1024)
                .snapshotEveryEntries(snapshotEvery)
                .snapshotsKept(2)
                .build();
        LogLoop loop = new LogLoop(options, queue -> new FileStore(disk, options, queue::control));
        machine = new RecordingMachine();
        delayed.clear();
        loop.lead(machine);
        return loop;
    }

    private static RecordingProposal write(LogLoop loop, int bytes) throws IOException {
        RecordingProposal proposal = new RecordingProposal(new byte[bytes]);
        Arrays.fill(proposal.payload, (byte) 'x');
        assertTrue(loop.propose(proposal));
        settle(loop);
        return proposal;
    }

    private static void settle(LogLoop loop) throws IOException {
        while (loop.step()) {
            // until there is nothing to do
        }
    }

    @Test
    void damageBelowADurableOffsetStopsAndNamesFileAndOffset() throws IOException {
        LogLoop loop = start();
        for (int i = 0; i < 5; i++) {
            write(loop, 300);
        }
        disk.kill();
        int thirdBatch = 512 + 2 * 512;
        disk.flipBit(FIRST, thirdBatch + 150);
        DamagedLogException e = assertThrows(DamagedLogException.class, this::start);
        assertEquals("simulated/" + FIRST, e.file());
        assertEquals(thirdBatch, e.offset());
        assertTrue(e.getMessage().contains(FIRST) && e.getMessage().contains("1536"), e.getMessage());
    }

    @Test
    void damageAtTheStartOfALaterSegmentNamesThatSegment() throws IOException {
        LogLoop loop = start();
        for (int i = 0; i < 20; i++) {
            write(loop, 4_000);
        }
        disk.kill();
        disk.flipBit("segment-0000000000000002.log", 512 + 20);
        DamagedLogException e = assertThrows(DamagedLogException.class, this::start);
        assertEquals("simulated/segment-0000000000000002.log", e.file());
        assertEquals(512, e.offset());
    }

    @Test
    void aTornLastBatchIsCutAndTheLogGoesOn() throws IOException {
        LogLoop loop = start();
        write(loop, 300);
        write(loop, 1_500);
        disk.kill();
        disk.flipBit(FIRST, 512 + 2 * 512 + 1_000);
        start();
        assertEquals(3, machine.seen().size(), "two terms and one entry");
        assertEquals(2, machine.seen().get(2).term());
        byte[] bytes = disk.durableBytes(FIRST);
        for (int i = 512 + 3 * 512; i < bytes.length; i++) {
            assertEquals(0, bytes[i], "byte " + i);
        }
    }

    @Test
    void damageOfTheLastBatchIsNoTornTailAfterACleanClose() throws IOException {
        LogLoop loop = start();
        write(loop, 300);
        loop.beginClosing();
        settle(loop);
        assertEquals(LogRole.CLOSED, loop.status().role());
        disk.flipBit(FIRST, 512 + 512 + 150);
        DamagedLogException e = assertThrows(DamagedLogException.class, this::start);
        assertEquals(1_024, e.offset());
    }

    @Test
    void aDamagedSnapshotFallsBackToTheOneBefore() throws IOException {
        snapshotEvery = 10;
        LogLoop loop = start();
        for (int i = 0; i < 45; i++) {
            write(loop, 2_000);
        }
        List<RecordingMachine.Seen> before = new ArrayList<>(machine.seen());
        disk.kill();
        List<String> snapshots = snapshots();
        assertEquals(2, snapshots.size());
        assertFalse(disk.list().contains(FIRST), "purged");
        disk.flipBit(snapshots.get(1), 100);
        start();
        assertEquals(before, machine.seen().subList(0, before.size()));
        assertTrue(disk.list().contains(snapshots.get(1) + ".damaged"));
    }

    @Test
    void withoutAnyReadableSnapshotAPurgedLogStopsWithAClearError() throws IOException {
        snapshotEvery = 10;
        LogLoop loop = start();
        for (int i = 0; i < 45; i++) {
            write(loop, 2_000);
        }
        disk.kill();
        snapshots().forEach(name -> disk.flipBit(name, 100));
        LogException e = assertThrows(LogException.class, this::start);
        assertTrue(e.getMessage().contains("newest readable snapshot ends at 0"), e.getMessage());
    }

    private List<String> snapshots() {
        return disk.list().stream()
                .filter(name -> name.endsWith(".snap"))
                .sorted()
                .toList();
    }

    @Test
    void aFullDiskRejectsWritesAndRecoversWithoutLosingAnything() throws IOException {
        LogLoop loop = start();
        write(loop, 100);
        disk.capacity(disk.used());
        int written = 0;
        RecordingProposal proposal = write(loop, 4_000);
        while (proposal.rejection == null) {
            assertTrue(proposal.acknowledged);
            written++;
            proposal = write(loop, 4_000);
        }
        assertEquals(Rejection.DISK_FULL, proposal.rejection);
        assertEquals(DiskState.FULL, loop.status().disk());
        assertTrue(written > 3, "the current segment is used up first");

        disk.kill();
        loop = start();
        assertEquals(written + 3, machine.seen().size(), "a member with a full disk restarts");
        assertEquals(Rejection.DISK_FULL, write(loop, 4_000).rejection);
        disk.capacity(Long.MAX_VALUE);
        delayed.poll().run();
        settle(loop);
        assertEquals(DiskState.ROOM, loop.status().disk());
        assertTrue(write(loop, 4_000).acknowledged);
    }

    @Test
    void aSnapshotWithoutRoomIsGivenUpAndTheLogGoesOn() throws IOException {
        snapshotEvery = 5;
        LogLoop loop = start();
        disk.capacity(disk.used());
        for (int i = 0; i < 8; i++) {
            assertTrue(write(loop, 100).acknowledged);
        }
        assertEquals(List.of(), snapshots());
        assertTrue(disk.list().stream().noneMatch(name -> name.endsWith(".tmp")));
    }

    /** Found by the simulation: reading began at the torn batch, for the snapshot ended right before it. */
    @Test
    void aTornFirstBatchOfASegmentRightBehindTheSnapshotIsCut() throws IOException {
        snapshotEvery = 6;
        LogLoop loop = start();
        for (int i = 0; i < 6; i++) {
            write(loop, 4_000);
        }
        assertEquals(List.of(SnapshotFile.name(6)), snapshots());
        disk.kill();
        disk.flipBit("segment-0000000000000002.log", 512 + 1_000);
        start();
        assertEquals(7, machine.seen().size());
        assertEquals(EntryKind.TERM, machine.seen().get(6).kind());
    }

    /** Found by the simulation: overwriting the other slot while this one was in the page cache only left neither. */
    @Test
    void aVoteFoundAfterAKillIsMadeDurableBeforeItIsBuiltOn() throws IOException {
        LogLoop loop = start();
        loop.beginClosing();
        settle(loop);
        Identity identity = Identity.read(disk);
        try (VoteFile vote = VoteFile.open(disk, identity)) {
            disk.breakSyncs("vote");
            assertThrows(IOException.class, () -> vote.write(7, 1, LogPosition.START));
        }
        disk.kill();
        disk.breakSyncs("");
        try (VoteFile vote = VoteFile.open(disk, identity)) {
            assertEquals(7, vote.term());
            assertArrayEquals(disk.bytes("vote"), disk.durableBytes("vote"));
        }
    }

    @Test
    void aFlippedBitAnywhereIsNoticedOrHarmlessButNeverLosesAnything() throws IOException {
        snapshotEvery = 10;
        LogLoop loop = start();
        for (int i = 0; i < 45; i++) {
            write(loop, 1_000 + 50 * i);
        }
        loop.beginClosing();
        settle(loop);
        List<RecordingMachine.Seen> promised = List.copyOf(machine.seen());
        SimulatedDisk before = disk;
        int noticed = 0;
        Random random = new Random(1);
        for (int flip = 0; flip < 500; flip++) {
            disk = new SimulatedDisk(flip);
            before.list().forEach(name -> disk.put(name, before.bytes(name)));
            List<String> files =
                    disk.list().stream().filter(name -> !name.equals("lock")).toList();
            String file = files.get(random.nextInt(files.size()));
            int offset = random.nextInt(disk.bytes(file).length);
            disk.flipBit(file, offset);
            try {
                start();
                assertTrue(machine.seen().size() > promised.size(), "lost: " + file + " at " + offset);
                assertEquals(promised, machine.seen().subList(0, promised.size()), file + " at " + offset);
            } catch (LogException e) {
                assertTrue(e.getMessage().contains("simulated/"), e.getMessage());
                noticed++;
            }
        }
        assertTrue(noticed > 50, noticed + " noticed");
    }

    @Test
    void batchesOfAnEarlierUseOfTheFileAreNotTaken() throws IOException {
        LogLoop loop = start();
        write(loop, 300);
        write(loop, 300);
        byte[] used = disk.bytes(FIRST);
        disk.kill();
        byte[] reused = disk.bytes(FIRST);
        // as if segment 9 had been written over a file that held segment 1
        assertTrue(BatchHeader.read(java.nio.ByteBuffer.wrap(used, 1_024, 512).slice(), cluster, 1)
                .isPresent());
        assertTrue(BatchHeader.read(java.nio.ByteBuffer.wrap(reused, 1_024, 512).slice(), cluster, 9)
                .isEmpty());
    }

    @Test
    void aFileOfAnotherClusterIsRefused() throws IOException {
        write(start(), 300);
        byte[] foreign = disk.bytes(FIRST);
        SimulatedDisk other = new SimulatedDisk(2);
        disk.list().forEach(name -> other.put(name, disk.bytes(name)));
        disk.list().forEach(disk::delete);
        disk.kill();
        cluster = new UUID(1, 1);
        start();
        disk.kill();
        disk.put(FIRST, foreign);
        LogException e = assertThrows(LogException.class, this::start);
        assertTrue(e.getMessage().contains("belongs to cluster 01234567-89ab-cdef"), e.getMessage());
    }

    @Test
    void theBytesOfTheFormatStayAsTheyAre() throws IOException {
        LogLoop loop = start();
        write(loop, 3);
        loop.beginClosing();
        settle(loop);
        assertGolden("identity", disk.bytes("identity"));
        assertGolden("vote", disk.bytes("vote"));
        assertGolden("segment", Arrays.copyOf(disk.bytes(FIRST), 2_048));
        SnapshotFile.write(
                disk,
                Identity.read(disk),
                new SnapshotMark(1, 2, 1_700_000_000_000L, 1),
                out -> out.write(new byte[] {1, 2, 3}),
                () -> false);
        assertGolden("snapshot", disk.bytes(SnapshotFile.name(2)));
    }

    /** Compares with a resource in hexadecimal, zeros at the end left out. */
    private static void assertGolden(String name, byte[] bytes) throws IOException {
        int length = bytes.length;
        while (length > 0 && bytes[length - 1] == 0) {
            length--;
        }
        byte[] actual = Arrays.copyOf(bytes, length);
        try (var in = LogFilesTest.class.getResourceAsStream("/golden/" + name + "-1.hex")) {
            String expected = in == null ? "" : new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            byte[] golden = HexFormat.of().parseHex(expected.replaceAll("\\s", ""));
            assertArrayEquals(
                    golden,
                    actual,
                    () -> "golden " + name + ": " + HexFormat.of().formatHex(actual));
        }
    }
}
