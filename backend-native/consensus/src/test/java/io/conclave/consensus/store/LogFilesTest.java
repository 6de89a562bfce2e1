package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.DiskState;
import io.conclave.consensus.LogException;
import io.conclave.consensus.LogOptions;
import io.conclave.consensus.disk.SimulatedDisk;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.LogState;
import io.conclave.consensus.entry.Start;
import io.conclave.consensus.store.LogStore.Appended;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Damage, torn tails, full disks and the bytes of the format, step by step on a simulated disk. */
class LogFilesTest {
    private static final String FIRST = "segment-0000000000000001.log";

    private SimulatedDisk disk = new SimulatedDisk(1);
    private final Deque<Runnable> delayed = new ArrayDeque<>();
    private UUID cluster = new UUID(0x0123456789abcdefL, 0xfedcba9876543210L);
    private long snapshotEvery = 1_000;

    private LogOptions options() {
        return LogOptions.builder(
                        () -> SingleVoter.NOW_MS,
                        () -> 1,
                        Runnable::run,
                        (delayMs, action) -> delayed.add(action),
                        cause -> {})
                .clusterIds(() -> cluster)
                .directoryIds(() -> 0x1122334455667788L)
                .segmentBytes(32 * 1024)
                .maxEntryBytes(4 * 1024)
                .maxBatchBytes(8 * 1024)
                .snapshotEveryEntries(snapshotEvery)
                .snapshotSpread(0)
                .snapshotsKept(2)
                .build();
    }

    private SingleVoter start() throws IOException {
        delayed.clear();
        return new SingleVoter(disk, options());
    }

    private static void write(SingleVoter voter, int times, int bytes) throws IOException {
        for (int i = 0; i < times; i++) {
            assertEquals(Appended.DONE, voter.write(bytes));
        }
    }

    @Test
    void damageBelowADurableOffsetStopsAndNamesFileAndOffset() throws IOException {
        write(start(), 5, 300);
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
        write(start(), 20, 4_000);
        disk.kill();
        disk.flipBit("segment-0000000000000002.log", 512 + 20);
        DamagedLogException e = assertThrows(DamagedLogException.class, this::start);
        assertEquals("simulated/segment-0000000000000002.log", e.file());
        assertEquals(512, e.offset());
    }

    @Test
    void aTornLastBatchIsCutAndTheLogGoesOn() throws IOException {
        SingleVoter voter = start();
        write(voter, 1, 300);
        write(voter, 1, 1_500);
        List<String> before = voter.seen.subList(0, 2);
        disk.kill();
        disk.flipBit(FIRST, 512 + 2 * 512 + 1_000);
        voter = start();
        assertTrue(voter.recovered.cut());
        assertEquals(3, voter.seen.size(), "two terms and one entry");
        assertEquals(before, voter.seen.subList(0, 2));
        assertEquals(2, voter.term);
        byte[] bytes = disk.durableBytes(FIRST);
        for (int i = 512 + 3 * 512; i < bytes.length; i++) {
            assertEquals(0, bytes[i], "byte " + i);
        }
    }

    @Test
    void aTornEndIsRememberedUntilTheMemberHasCaughtUp() throws IOException {
        write(start(), 2, 300);
        disk.kill();
        disk.flipBit(FIRST, 512 + 2 * 512 + 200);
        assertTrue(start().recovered.cut());
        disk.kill();
        SingleVoter voter = start();
        assertTrue(voter.recovered.cut(), "after one more restart");
        voter.store.caughtUp();
        disk.losePower();
        voter = start();
        assertFalse(voter.recovered.cut());
        write(voter, 1, 300);
        voter.close();
        assertFalse(start().recovered.cut());
    }

    @Test
    void damageOfTheLastBatchIsNoTornTailAfterACleanClose() throws IOException {
        SingleVoter voter = start();
        write(voter, 1, 300);
        voter.close();
        disk.flipBit(FIRST, 512 + 512 + 150);
        DamagedLogException e = assertThrows(DamagedLogException.class, this::start);
        assertEquals(1_024, e.offset());
    }

    @Test
    void aCleanCloseLeavesWhatIsCommitted() throws IOException {
        SingleVoter voter = start();
        write(voter, 3, 300);
        voter.close();
        voter = start();
        assertEquals(4, voter.recovered.lastCommitted());
        assertEquals(1, voter.recovered.lastCommittedTerm());
        assertEquals(List.of(), voter.recovered.rest());
        write(voter, 1, 300);
        disk.kill();
        voter = start();
        assertEquals(5, voter.recovered.lastCommitted(), "what the last batch's header knew");
        assertEquals(1, voter.recovered.rest().size());
    }

    @Test
    void aDamagedSnapshotFallsBackToTheOneBefore() throws IOException {
        newestSnapshotFallsBackToTheOneBefore(name -> disk.flipBit(name, 100));
    }

    @Test
    void aSnapshotThatTheDiskCannotReadFallsBackToTheOneBefore() throws IOException {
        newestSnapshotFallsBackToTheOneBefore(disk::breakReads);
    }

    private void newestSnapshotFallsBackToTheOneBefore(Consumer<String> spoil) throws IOException {
        snapshotEvery = 10;
        SingleVoter voter = start();
        write(voter, 45, 2_000);
        long state = voter.state;
        disk.kill();
        List<String> snapshots = snapshots();
        assertEquals(2, snapshots.size());
        assertFalse(disk.list().contains(FIRST), "purged");
        spoil.accept(snapshots.get(1));
        voter = start();
        assertEquals(30, voter.replay.snapshot.lastIndex());
        assertEquals(47, voter.lastIndex);
        assertEquals(state, stateBefore(voter));
        assertTrue(disk.list().contains(snapshots.get(1) + ".damaged"));
    }

    /** The state before the first entry of the voter's own term. */
    private static long stateBefore(SingleVoter voter) {
        long state = voter.replay.state;
        for (var batch : voter.recovered.rest()) {
            state = Replay.stateAfter(state, batch);
        }
        return state;
    }

    @Test
    void withoutAnyReadableSnapshotAPurgedLogStopsWithAClearError() throws IOException {
        snapshotEvery = 10;
        write(start(), 45, 2_000);
        disk.kill();
        snapshots().forEach(name -> disk.flipBit(name, 100));
        LogException e = assertThrows(LogException.class, this::start);
        assertTrue(e.getMessage().contains("newest readable snapshot ends at 0"), e.getMessage());
    }

    /** One of them may only be away, and come back. */
    @Test
    void segmentsBelowAGapStayWhereTheOthersAreNotTheWholeLog() throws IOException {
        snapshotEvery = 30;
        SingleVoter voter = start();
        write(voter, 55, 2_000);
        long lastIndex = voter.lastIndex;
        long state = voter.state;
        disk.kill();
        assertEquals(1, snapshots().size());
        String middle = segments().get(segments().size() - 3);
        disk.rename(middle, "away");
        List<String> before = disk.list();
        assertThrows(LogException.class, this::start);
        assertEquals(
                before.stream().sorted().toList(), disk.list().stream().sorted().toList());
        disk.kill();
        disk.rename("away", middle);
        voter = start();
        assertEquals(lastIndex + 1, voter.lastIndex, "and the entry of its term");
        assertEquals(state, stateBefore(voter));
    }

    @Test
    void segmentsBelowAGapGoWhereTheOthersAreTheWholeLog() throws IOException {
        snapshotEvery = 30;
        SingleVoter voter = start();
        write(voter, 55, 2_000);
        long lastIndex = voter.lastIndex;
        disk.kill();
        List<String> segments = segments();
        disk.rename(segments.get(1), "away");
        assertEquals(lastIndex + 1, start().lastIndex);
        assertEquals(segments.subList(2, segments.size()), segments());
    }

    private List<String> segments() {
        return disk.list().stream()
                .filter(name -> name.endsWith(".log"))
                .sorted()
                .toList();
    }

    private List<String> snapshots() {
        return disk.list().stream()
                .filter(name -> name.endsWith(".snap"))
                .sorted()
                .toList();
    }

    @Test
    void aFullDiskRejectsWritesAndRecoversWithoutLosingAnything() throws IOException {
        SingleVoter voter = start();
        write(voter, 1, 100);
        disk.capacity(disk.used());
        int written = 0;
        while (voter.write(4_000) == Appended.DONE) {
            written++;
        }
        assertEquals(Appended.FULL, voter.write(4_000));
        assertEquals(DiskState.FULL, voter.store.diskState());
        assertEquals(Appended.FULL, voter.store.roomFor(1, 4_000));
        assertTrue(written > 3, "the current segment is used up first");

        disk.kill();
        voter = start();
        assertEquals(written + 3, voter.lastIndex, "a member with a full disk restarts");
        assertEquals(Appended.FULL, voter.write(4_000));
        disk.capacity(Long.MAX_VALUE);
        delayed.poll().run();
        assertEquals(DiskState.ROOM, voter.store.diskState());
        assertEquals(Appended.DONE, voter.write(4_000));
    }

    @Test
    void aSnapshotWithoutRoomIsGivenUpAndTheLogGoesOn() throws IOException {
        snapshotEvery = 5;
        SingleVoter voter = start();
        disk.capacity(disk.used());
        write(voter, 8, 100);
        assertEquals(List.of(), snapshots());
        assertTrue(disk.list().stream().noneMatch(name -> name.endsWith(".tmp")));
    }

    /** Found by the simulation: reading began at the torn batch, for the snapshot ended right before it. */
    @Test
    void aTornFirstBatchOfASegmentRightBehindTheSnapshotIsCut() throws IOException {
        snapshotEvery = 6;
        write(start(), 6, 4_000);
        assertEquals(List.of(SnapshotFile.name(6)), snapshots());
        disk.kill();
        disk.flipBit("segment-0000000000000002.log", 512 + 1_000);
        SingleVoter voter = start();
        assertEquals(7, voter.lastIndex);
        assertEquals(6, voter.recovered.lastCommitted());
    }

    /** Found by the simulation: overwriting the other slot while this one was in the page cache only left neither. */
    @Test
    void aVoteFoundAfterAKillIsMadeDurableBeforeItIsBuiltOn() throws IOException {
        start().close();
        UUID id = DirectoryIdentity.read(disk).clusterId();
        try (VoteFile vote = VoteFile.open(disk, id)) {
            disk.breakSyncs("vote");
            assertThrows(IOException.class, () -> vote.write(vote.vote().in(7, 1)));
        }
        disk.kill();
        disk.breakSyncs("");
        try (VoteFile vote = VoteFile.open(disk, id)) {
            assertEquals(7, vote.vote().term());
        }
        disk.losePower();
        try (VoteFile vote = VoteFile.open(disk, id)) {
            assertEquals(7, vote.vote().term());
        }
    }

    /** The operating system takes the pages for clean then: another sync would write nothing and say yes. */
    @Test
    void aVoteWhoseSyncFailedIsWrittenAgainBeforeItIsBuiltOn() throws IOException {
        start().close();
        UUID id = DirectoryIdentity.read(disk).clusterId();
        try (VoteFile vote = VoteFile.open(disk, id)) {
            disk.failSyncAfter(1, "");
            assertThrows(IOException.class, () -> vote.write(vote.vote().in(7, 1)));
        }
        disk.kill();
        try (VoteFile vote = VoteFile.open(disk, id)) {
            assertEquals(7, vote.vote().term());
        }
        disk.losePower();
        try (VoteFile vote = VoteFile.open(disk, id)) {
            assertEquals(7, vote.vote().term());
        }
    }

    @Test
    void aDamagedSlotDoesNotForgetTheVote() throws IOException {
        start().close();
        UUID id = DirectoryIdentity.read(disk).clusterId();
        for (int term = 7; term <= 10; term++) {
            try (VoteFile vote = VoteFile.open(disk, id)) {
                vote.write(vote.vote().in(term, 1));
            }
            disk.kill();
            disk.flipBit("vote", term % 2 * 4096 + 45);
            try (VoteFile vote = VoteFile.open(disk, id)) {
                assertEquals(term, vote.vote().term());
                disk.flipBit("vote", (term + 1) % 2 * 4096 + 45);
            }
            try (VoteFile vote = VoteFile.open(disk, id)) {
                assertEquals(term, vote.vote().term());
            }
        }
    }

    @Test
    void aBatchWhoseSyncFailedIsWrittenAgainBeforeItIsBuiltOn() throws IOException {
        for (int seed = 1; seed <= 10; seed++) {
            disk = new SimulatedDisk(seed);
            SingleVoter voter = start();
            write(voter, 3, 3_000);
            long before = voter.lastIndex;
            disk.failSyncAfter(1, "");
            assertThrows(IOException.class, () -> write(voter, 1, 3_000));
            disk.kill();
            assertEquals(before + 1, start().lastIndex - 1, "what is found, and the entry of its term");
            disk.losePower();
            assertEquals(before + 1, start().lastIndex - 2);
        }
    }

    @Test
    void aFlippedBitAnywhereIsNoticedOrHarmlessButNeverLosesAnything() throws IOException {
        snapshotEvery = 10;
        SingleVoter voter = start();
        for (int i = 0; i < 45; i++) {
            voter.write(1_000 + 50 * i);
        }
        voter.close();
        long state = voter.state;
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
                voter = start();
                assertEquals(47, voter.lastIndex, "lost: " + file + " at " + offset);
                assertEquals(state, stateBefore(voter), file + " at " + offset);
            } catch (LogException e) {
                assertTrue(e.getMessage().contains("simulated/"), e.getMessage());
                noticed++;
            }
        }
        assertTrue(noticed > 50, noticed + " noticed");
    }

    @Test
    void batchesOfAnEarlierUseOfTheFileAreNotTaken() throws IOException {
        write(start(), 2, 300);
        byte[] used = disk.bytes(FIRST);
        // as if segment 9 had been written over a file that held segment 1
        assertTrue(BatchHeader.read(ByteBuffer.wrap(used, 1_024, 512).slice(), cluster, 1)
                .isPresent());
        assertTrue(BatchHeader.read(ByteBuffer.wrap(used, 1_024, 512).slice(), cluster, 9)
                .isEmpty());
    }

    @Test
    void aFileOfAnotherClusterIsRefused() throws IOException {
        write(start(), 1, 300);
        byte[] foreign = disk.bytes(FIRST);
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
        SingleVoter voter = start();
        write(voter, 1, 3);
        voter.close();
        assertGolden("identity-1", disk.bytes("identity"));
        assertGolden("vote-2", disk.bytes("vote"));
        assertGolden("segment-1", Arrays.copyOf(disk.bytes(FIRST), 2_048));
        SnapshotFile.write(
                disk,
                cluster,
                new SnapshotPosition(1, 2, SingleVoter.NOW_MS, logState()),
                out -> out.write(new byte[] {1, 2, 3}),
                () -> false);
        assertGolden("snapshot-2", disk.bytes(SnapshotFile.name(2)));
    }

    private static LogState logState() {
        EnsembleMember member = new EnsembleMember(3, 0x1122334455667788L, "alpha", 2888, "", 2181, false);
        return new LogState(
                new ClusterConfiguration(Map.of(3, member), Set.of(3), Set.of()),
                2,
                1,
                Map.of(3, new LogState.Proposer(4, 5, 6, new Start(7, 8, 9))));
    }

    /** Compares with a resource in hexadecimal, zeros at the end left out. */
    private static void assertGolden(String name, byte[] bytes) throws IOException {
        int length = bytes.length;
        while (length > 0 && bytes[length - 1] == 0) {
            length--;
        }
        byte[] actual = Arrays.copyOf(bytes, length);
        try (InputStream in = LogFilesTest.class.getResourceAsStream("/golden/" + name + ".hex")) {
            String expected = in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
            byte[] golden = HexFormat.of().parseHex(expected.replaceAll("\\s", ""));
            assertArrayEquals(
                    golden,
                    actual,
                    () -> "golden " + name + ": " + HexFormat.of().formatHex(actual));
        }
    }
}
