package io.conclave.election;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.request.Delete;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.history.LockHistory;
import io.conclave.testkit.history.LockHistoryChecker;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What an election promises to work that runs while its candidate leads. */
abstract class CandidacyContract extends ElectionFixture {
    /** Work that waits until it is interrupted, and says how it went. */
    private static final class Waiting implements LeaderWork {
        final BlockingQueue<Leadership> begun = new LinkedBlockingQueue<>();
        final BlockingQueue<String> ended = new LinkedBlockingQueue<>();

        @Override
        public void run(Leadership leadership) throws InterruptedException {
            begun.add(leadership);
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                ended.add("interrupted");
                throw e;
            }
        }

        Leadership awaitBegun() throws InterruptedException {
            Leadership leadership = begun.poll(120, SECONDS);
            assertTrue(leadership != null, "the work was not begun");
            return leadership;
        }

        void awaitInterrupted() throws InterruptedException {
            assertEquals("interrupted", ended.poll(120, SECONDS));
        }
    }

    @Test
    void workRunsWhileLeaderAndIsInterruptedByClose() throws Exception {
        Coordinator coordinator = connect();
        Waiting work = new Waiting();
        Candidacy candidacy = electionOf(coordinator, "worker").runWhileLeader(work);
        Leadership leadership = work.awaitBegun();
        assertTrue(leadership.isHeld());
        assertEquals(leadership, candidacy.leadership().orElseThrow());
        assertEquals("worker", electionOf(coordinator).leader().orElseThrow().text());
        candidacy.close();
        work.awaitInterrupted();
        assertFalse(leadership.isHeld());
        assertEquals(0, candidacy.failureCount());
        assertEquals(1, candidacy.runCount());
        awaitNothingLeft(coordinator);
        candidacy.close();
    }

    @Test
    void closingAWaitingCandidacyLeavesTheLine() throws Exception {
        Coordinator coordinator = connect();
        try (Leadership leadership = electionOf(coordinator).campaign(PATIENCE)) {
            Waiting work = new Waiting();
            Candidacy candidacy = electionOf(connect()).runWhileLeader(work);
            awaitCandidates(coordinator, 2);
            candidacy.close();
            awaitCandidates(coordinator, 1);
            assertTrue(leadership.isHeld());
            assertEquals(0, candidacy.runCount());
        }
    }

    @Test
    void workThatReturnsResignsAndCampaignsAgain() throws Exception {
        Coordinator coordinator = connect();
        AtomicInteger rounds = new AtomicInteger();
        CountDownLatch enough = new CountDownLatch(3);
        try (Candidacy candidacy = electionOf(coordinator).runWhileLeader(leadership -> {
            leadership.ensureHeld();
            rounds.incrementAndGet();
            enough.countDown();
        })) {
            assertTrue(enough.await(120, SECONDS));
            assertTrue(candidacy.runCount() >= 3);
        }
        awaitNothingLeft(coordinator);
        int before = rounds.get();
        electionOf(coordinator).campaign(PATIENCE).close();
        assertEquals(before, rounds.get());
    }

    @Test
    void lossInterruptsTheWorkAndTheNextCampaignBeginsWhenItHasEnded() throws Exception {
        Coordinator coordinator = connect();
        CountDownLatch mayEnd = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        BlockingQueue<Leadership> begun = new LinkedBlockingQueue<>();
        Candidacy candidacy = electionOf(connect(), "slow").runWhileLeader(leadership -> {
            begun.add(leadership);
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupted.countDown();
                mayEnd.await(); // slow to end
            }
        });
        Leadership first = begun.poll(120, SECONDS);
        coordinator.execute(Delete.of(first.path()));
        assertTrue(interrupted.await(120, SECONDS));
        Leadership other = electionOf(coordinator, "other").campaign(PATIENCE);
        assertTrue(begun.isEmpty());
        assertEquals(1, electionOf(coordinator).candidates().size(), "no campaign before the work has ended");
        mayEnd.countDown();
        awaitCandidates(coordinator, 2);
        other.close();
        Leadership second = begun.poll(120, SECONDS);
        assertTrue(second.token().compareTo(first.token()) > 0);
        assertEquals(0, candidacy.failureCount());
        candidacy.close();
        awaitNothingLeft(coordinator);
    }

    @Test
    void workThatThrowsIsCountedAndTriedAgain() throws Exception {
        AtomicInteger rounds = new AtomicInteger();
        CountDownLatch second = new CountDownLatch(2);
        try (Candidacy candidacy = electionOf(connect()).runWhileLeader(leadership -> {
            second.countDown();
            if (rounds.getAndIncrement() == 0) {
                throw new IllegalStateException("thrown by a test");
            }
            new CountDownLatch(1).await();
        })) {
            assertTrue(second.await(120, SECONDS));
            assertEquals(1, candidacy.failureCount());
        }
    }

    @Test
    void workMayResignOrHandOverByItselfWithoutBeingInterrupted() throws Exception {
        Coordinator coordinator = connect();
        CompletableFuture<String> ended = new CompletableFuture<>();
        LeaderElection election = electionOf(coordinator, "giving");
        CompletableFuture<Leadership> successor = new CompletableFuture<>();
        try (Candidacy candidacy = election.runWhileLeader(leadership -> {
            if (ended.isDone()) {
                new CountDownLatch(1).await();
            }
            try {
                electionOf(coordinator, "heir").campaignAsync().thenAccept(successor::complete);
                awaitCandidates(coordinator, 2);
                leadership.handOver(candidate(election, "heir"), PATIENCE);
                leadership.lost().toCompletableFuture().get(120, SECONDS);
                ended.complete(Thread.currentThread().isInterrupted() ? "interrupted" : "in peace");
            } catch (Throwable e) {
                ended.complete(e.toString());
            }
        })) {
            assertEquals("in peace", get(ended));
            Leadership heir = get(successor);
            awaitCandidates(coordinator, 2);
            heir.close();
            await().atMost(PATIENCE).until(() -> candidacy.runCount() == 2);
        }
    }

    @Test
    void candidacyGoesOnWithTheNextSession() throws Exception {
        Coordinator other = connect(); // the store in memory goes by the clock of the first one
        ManualTimeSource clock = jumpingClock();
        Coordinator coordinator = opened(builder().timeSource(clock));
        Waiting work = new Waiting();
        Candidacy candidacy = electionOf(coordinator, "again").runWhileLeader(work);
        Leadership first = work.awaitBegun();
        CompletableFuture<Leadership> waiter = electionOf(other).campaignAsync();
        awaitCandidates(other, 2);
        stop(clock);
        clock.advanceWallOnly(sessionTimeout());
        assertFalse(first.isHeld());
        awaitNextSession(coordinator, clock);
        work.awaitInterrupted();
        Leadership between = get(waiter);
        clock.advanceUntil(
                Duration.ofMillis(1), () -> electionOf(other).candidates().size() == 2);
        between.close();
        Leadership second = work.awaitBegun();
        assertTrue(second.token().compareTo(between.token()) > 0);
        assertEquals(0, candidacy.failureCount());
        candidacy.closeAsync();
    }

    @Test
    void candidacyEndsWithItsCoordinator() throws Exception {
        Coordinator coordinator = connect();
        Coordinator other = connect();
        Waiting work = new Waiting();
        Candidacy leading = electionOf(coordinator).runWhileLeader(work);
        work.awaitBegun();
        Candidacy waiting = electionOf(coordinator).runWhileLeader(new Waiting());
        awaitCandidates(other, 2);
        coordinator.close();
        work.awaitInterrupted();
        await().atMost(PATIENCE).until(() -> {
            leading.closeAsync().toCompletableFuture().get(120, SECONDS);
            waiting.closeAsync().toCompletableFuture().get(120, SECONDS);
            return true;
        });
        awaitNothingLeft(other);
    }

    @Test
    void neverTwoWorksAtOnceHoweverTheyEnd() throws Exception {
        LockHistory history = new LockHistory(TimeSource.system());
        AtomicInteger rounds = new AtomicInteger();
        List<Candidacy> candidacies = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            candidacies.add(electionOf(connect()).runWhileLeader(leadership -> {
                int round = rounds.incrementAndGet();
                String name = "round " + round;
                history.granted(name, leadership);
                leadership.ensureHeld();
                history.released(name);
                if (round % 7 == 0) {
                    leadership.close();
                }
            }));
        }
        await().atMost(PATIENCE).until(() -> rounds.get() >= 60);
        candidacies.forEach(Candidacy::close);
        assertEquals(List.of(), LockHistoryChecker.check(history));
        candidacies.forEach(candidacy -> assertEquals(0, candidacy.failureCount(), candidacy::toString));
        awaitNothingLeft(connect());
    }
}
