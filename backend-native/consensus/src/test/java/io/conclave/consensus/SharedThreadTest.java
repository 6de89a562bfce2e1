package io.conclave.consensus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.ensemble.EnsembleLog;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.LogEntryKind;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A log in memory whose turns run on a thread that does other work, too. */
@Timeout(300)
class SharedThreadTest {
    private final AtomicReference<Thread> shared = new AtomicReference<>();
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread made = new Thread(task, "shared");
        shared.set(made);
        return made;
    });
    private final ScheduledExecutorService background = Executors.newScheduledThreadPool(1);
    private final AtomicReference<LogException> fatal = new AtomicReference<>();
    private final AppliedInOrder machine = new AppliedInOrder();

    @AfterEach
    void stop() {
        thread.shutdownNow();
        background.shutdownNow();
        assertSame(null, fatal.get());
    }

    /** Keeps what was applied. */
    private final class AppliedInOrder implements StateMachine {
        final List<Byte> applied = new ArrayList<>(); // on the log's thread

        @Override
        public void begin(UUID clusterId) {}

        @Override
        public void apply(CommittedBatch batch) {
            assertSame(shared.get(), Thread.currentThread());
            for (CommittedEntry entry : batch.entries()) {
                if (entry.kind() == LogEntryKind.APPLICATION) {
                    applied.add(entry.payload()[0]);
                    if (entry.origin() instanceof RecordingProposal proposal) {
                        proposal.acknowledged = true;
                    }
                }
            }
        }

        @Override
        public StateSnapshot snapshot() {
            return out -> {};
        }

        @Override
        public void drop() {}

        @Override
        public Runnable read(InputStream snapshot) {
            return () -> {};
        }
    }

    private LogOptionsBuilder options() {
        return LogOptions.builder(
                System::currentTimeMillis,
                () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()),
                background,
                (delayMs, action) -> background.schedule(action, delayMs, TimeUnit.MILLISECONDS),
                fatal::set);
    }

    private EnsembleLog started() {
        EnsembleLog log = EnsembleLog.inMemory(options().build(), thread);
        log.start(machine, LogListener.NONE);
        return log;
    }

    private static RecordingProposal proposal(int value) {
        return new RecordingProposal(new byte[] {(byte) value});
    }

    @Test
    void whatTheThreadItselfProposesIsAppliedInOrderWithoutAnotherThread() throws Exception {
        try (EnsembleLog log = started()) {
            List<Integer> seen = new ArrayList<>();
            CompletableFuture<Void> done = new CompletableFuture<>();
            thread.execute(() -> {
                for (int i = 0; i < 100; i++) {
                    int before = i + 1;
                    assertTrue(log.propose(proposal(i)));
                    assertTrue(log.readBarrier(() -> seen.add(machine.applied.size() - before)));
                }
                assertTrue(log.readBarrier(() -> done.complete(null)));
                assertEquals(List.of(), machine.applied, "nothing is applied inside of a proposal");
            });
            done.get(120, TimeUnit.SECONDS);
            assertEquals(100, machine.applied.size());
            for (int i = 0; i < 100; i++) {
                assertEquals((byte) i, machine.applied.get(i));
                assertTrue(seen.get(i) >= 0, "a barrier saw the state before an earlier proposal");
            }
        }
    }

    /** Proposals of other threads come while the log's turns and other work share the thread. */
    @Test
    void proposalsRacingWithCloseAreAppliedOrRejected() throws Exception {
        for (int round = 0; round < 20; round++) {
            EnsembleLog log = started();
            ConcurrentLinkedQueue<RecordingProposal> taken = new ConcurrentLinkedQueue<>();
            Runnable propose = () -> {
                RecordingProposal proposal = proposal(1);
                while (log.propose(proposal)) {
                    taken.add(proposal);
                    proposal = proposal(1);
                }
            };
            Thread one = new Thread(propose);
            Thread two = new Thread(propose);
            one.start();
            two.start();
            log.close();
            one.join();
            two.join();
            for (RecordingProposal proposal : taken) {
                assertTrue(proposal.acknowledged != (proposal.rejection != null), "round " + round);
            }
            assertEquals(LogRole.CLOSED, log.status().role());
        }
    }

    @Test
    void itIsNotClosedOnItsOwnThread() throws Exception {
        try (EnsembleLog log = started()) {
            CompletableFuture<Throwable> failure = new CompletableFuture<>();
            log.execute(() -> {
                try {
                    log.close();
                    failure.complete(null);
                } catch (IllegalStateException e) {
                    failure.complete(e);
                }
            });
            assertTrue(failure.get(120, TimeUnit.SECONDS).getMessage().contains("own thread"));
        }
    }

    /** The timer of the last turn may fire when the thread has gone. */
    @Test
    void theThreadMayEndBehindTheLog() throws Exception {
        EnsembleLog log = started();
        log.close();
        thread.shutdown();
        assertTrue(thread.awaitTermination(60, TimeUnit.SECONDS));
        assertFalse(log.propose(proposal(0)));
        log.execute(() -> {});
    }

    @Test
    void onlyAMemberThatIsAloneSharesAThread() {
        EnsembleMember one = new EnsembleMember(1, 0, "one", 1, "", 0, false);
        EnsembleMember two = new EnsembleMember(2, 0, "two", 1, "", 0, false);
        LogOptions options = options().members(Map.of(1, one, 2, two)).build();
        assertThrows(IllegalArgumentException.class, () -> EnsembleLog.inMemory(options, thread));
    }
}
