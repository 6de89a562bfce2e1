package io.conclave.consensus;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.disk.RealDisk;
import io.conclave.consensus.disk.SimulatedDisk;
import io.conclave.consensus.ensemble.EnsembleLog;
import io.conclave.consensus.entry.LogEntryKind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The durable log with its thread, on a real directory (and, where the disk must fail, on a simulated one). */
class SingleMemberLogTest {
    private static final int WRITERS = 4;
    private static final int EACH = 2_000;

    @TempDir
    Path directory;

    private final ExecutorService background = Executors.newFixedThreadPool(2);
    private final AtomicReference<LogException> fatal = new AtomicReference<>();

    @AfterEach
    void stopBackground() {
        background.shutdownNow();
    }

    private LogOptionsBuilder options() {
        return LogOptions.builder(
                        System::currentTimeMillis,
                        System::currentTimeMillis,
                        background,
                        (delayMs, action) -> action.run(),
                        fatal::set)
                .segmentBytes(64 * 1024)
                .maxEntryBytes(8 * 1024)
                .maxBatchBytes(32 * 1024);
    }

    /** Numbers each writer counts up; sums up what the log did. */
    private static final class CountingMachine implements StateMachine {
        final List<Long> last = new ArrayList<>(List.of(-1L, -1L, -1L, -1L));
        final AtomicLong applied = new AtomicLong();
        volatile Thread thread;

        @Override
        public void begin(UUID clusterId) {}

        @Override
        public void apply(CommittedBatch batch) {
            thread = Thread.currentThread();
            for (CommittedEntry entry : batch.entries()) {
                if (entry.kind() == LogEntryKind.APPLICATION) {
                    ByteBuffer payload = ByteBuffer.wrap(entry.payload());
                    int writer = payload.getInt();
                    long number = payload.getLong();
                    assertEquals(last.get(writer) + 1, number, "order of writer " + writer);
                    last.set(writer, number);
                    applied.incrementAndGet();
                    if (entry.origin() instanceof RecordingProposal proposal) {
                        proposal.acknowledged = true;
                    }
                }
            }
        }

        @Override
        public StateSnapshot snapshot() {
            List<Long> copy = List.copyOf(last);
            return out -> {
                for (long number : copy) {
                    out.write(ByteBuffer.allocate(8).putLong(number).array());
                }
            };
        }

        @Override
        public void drop() {
            throw new AssertionError("no snapshot is sent here");
        }

        @Override
        public Runnable read(java.io.InputStream snapshot) throws IOException {
            List<Long> read = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                read.add(ByteBuffer.wrap(snapshot.readNBytes(8)).getLong());
            }
            return () -> Collections.copy(last, read);
        }
    }

    private static RecordingProposal proposal(int writer, long number) {
        return new RecordingProposal(
                ByteBuffer.allocate(100).putInt(writer).putLong(number).array());
    }

    @Test
    void manyWritersKeepTheirOrderAndARestartFindsAll() throws Exception {
        try (EnsembleLog log = EnsembleLog.on(
                RealDisk.in(directory), options().snapshotEveryEntries(500).build())) {
            CountingMachine machine = new CountingMachine();
            log.start(machine, LogListener.NONE);
            List<Thread> writers = new ArrayList<>();
            for (int w = 0; w < WRITERS; w++) {
                int writer = w;
                Thread thread = new Thread(() -> {
                    for (long number = 0; number < EACH; number++) {
                        assertTrue(log.propose(proposal(writer, number)));
                    }
                });
                thread.start();
                writers.add(thread);
            }
            for (Thread thread : writers) {
                thread.join();
            }
            AtomicLong seen = new AtomicLong();
            CountDownLatch read = new CountDownLatch(1);
            assertTrue(log.readBarrier(() -> {
                seen.set(machine.applied.get());
                assertEquals(machine.thread, Thread.currentThread());
                read.countDown();
            }));
            read.await();
            assertEquals(WRITERS * EACH, seen.get());
            assertEquals(LogRole.LEADING, log.status().role());
        }
        CountingMachine again = new CountingMachine();
        try (EnsembleLog log = EnsembleLog.on(RealDisk.in(directory), options().build())) {
            log.start(again, LogListener.NONE);
            assertEquals(2, log.status().term());
            assertEquals(List.of(EACH - 1L, EACH - 1L, EACH - 1L, EACH - 1L), again.last);
        }
        assertTrue(Files.list(directory).anyMatch(file -> file.toString().endsWith(".snap")));
        assertEquals(null, fatal.get());
    }

    @Test
    void closingCommitsWhatWasQueuedAndTakesNoMore() {
        CountingMachine machine = new CountingMachine();
        EnsembleLog log = EnsembleLog.on(RealDisk.in(directory), options().build());
        log.start(machine, LogListener.NONE);
        List<RecordingProposal> proposals = new ArrayList<>();
        for (long number = 0; number < 1_000; number++) {
            proposals.add(proposal(0, number));
            assertTrue(log.propose(proposals.get((int) number)));
        }
        log.close();
        log.close();
        assertTrue(proposals.stream().allMatch(proposal -> proposal.acknowledged));
        assertFalse(log.propose(proposal(0, 1_000)));
        assertFalse(log.readBarrier(() -> {}));
        assertEquals(LogRole.CLOSED, log.status().role());
    }

    @Test
    void proposalsRacingWithCloseAreCommittedOrFailedButNeverLeftIncomplete() throws Exception {
        for (int round = 0; round < 20; round++) {
            EnsembleLog log = EnsembleLog.inMemory(options().build());
            log.start(new CountingMachine(), LogListener.NONE);
            List<RecordingProposal> taken = new ArrayList<>();
            Thread writer = new Thread(() -> {
                for (long number = 0; ; number++) {
                    RecordingProposal proposal = proposal(0, number);
                    if (!log.propose(proposal)) {
                        return;
                    }
                    taken.add(proposal);
                }
            });
            writer.start();
            log.close();
            writer.join();
            for (RecordingProposal proposal : taken) {
                assertTrue(proposal.acknowledged != (proposal.rejection != null), "round " + round);
            }
        }
    }

    @Test
    void theQueueIsBoundedAndLeavesNoTraceOfWhatItRefuses() {
        CountDownLatch blocked = new CountDownLatch(1);
        EnsembleLog log = EnsembleLog.inMemory(options().maxQueuedEntries(10).build());
        log.start(new CountingMachine(), LogListener.NONE);
        CountDownLatch entered = new CountDownLatch(1);
        assertTrue(log.readBarrier(() -> {
            entered.countDown();
            join(blocked);
        }));
        join(entered);
        for (long number = 0; number < 10; number++) {
            assertTrue(log.propose(proposal(0, number)));
        }
        RecordingProposal refused = proposal(0, 10);
        assertFalse(log.propose(refused));
        blocked.countDown();
        log.close();
        assertEquals(null, refused.rejection);
        assertFalse(refused.acknowledged);
    }

    private static void join(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void anEntryTooLargeOrOfAKindOfTheLogsOwnIsRefusedByName() {
        EnsembleLog log = EnsembleLog.inMemory(options().build());
        IllegalArgumentException e = assertThrows(
                IllegalArgumentException.class, () -> log.propose(new RecordingProposal(new byte[8 * 1024 + 1])));
        assertTrue(e.getMessage().contains("8193") && e.getMessage().contains("8192"), e.getMessage());
        log.close();
    }

    @Test
    void aSecondLogOnTheSameDirectoryIsRefused() {
        try (EnsembleLog log = EnsembleLog.on(RealDisk.in(directory), options().build())) {
            log.start(new CountingMachine(), LogListener.NONE);
            EnsembleLog second =
                    EnsembleLog.on(RealDisk.in(directory), options().build());
            LogException e =
                    assertThrows(LogException.class, () -> second.start(new CountingMachine(), LogListener.NONE));
            assertTrue(e.getMessage().contains("in use") && e.getMessage().contains(directory.toString()));
            second.close();
        }
    }

    @Test
    void aDirectoryOfSomethingElseIsRefused() throws Exception {
        Files.writeString(directory.resolve("precious.txt"), "mine");
        EnsembleLog log = EnsembleLog.on(RealDisk.in(directory), options().build());
        LogException e = assertThrows(LogException.class, () -> log.start(new CountingMachine(), LogListener.NONE));
        assertTrue(e.getMessage().contains("precious.txt"), e.getMessage());
    }

    @Test
    void anEmptyDirectoryIsRefusedWhereBootstrapIsNotAllowed() {
        EnsembleLog log = EnsembleLog.on(
                RealDisk.in(directory), options().bootstrap(false).build());
        LogException e = assertThrows(LogException.class, () -> log.start(new CountingMachine(), LogListener.NONE));
        assertTrue(e.getMessage().contains("is empty"), e.getMessage());
    }

    @Test
    void aFailedSyncEndsTheLogAndTellsTheOwner() {
        SimulatedDisk disk = new SimulatedDisk(1);
        EnsembleLog log = EnsembleLog.on(disk, options().build());
        log.start(new CountingMachine(), LogListener.NONE);
        AtomicReference<RecordingProposal> unlucky = new AtomicReference<>(proposal(0, 0));
        CountDownLatch broken = new CountDownLatch(1);
        log.readBarrier(() -> {
            disk.breakSyncs("segment-");
            broken.countDown();
        });
        join(broken);
        log.propose(unlucky.get());
        await().until(() -> fatal.get() != null);
        assertTrue(
                fatal.get().getMessage().contains("Input/output error"),
                fatal.get().getMessage());
        assertEquals(LogRole.FAILED, log.status().role());
        assertFalse(unlucky.get().acknowledged);
        assertEquals(null, unlucky.get().rejection, "its outcome is unknown");
        assertFalse(log.propose(proposal(0, 1)));
        log.close();
    }
}
