package io.conclave.election;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Work, executors and listeners that do what they should not. */
class FaultyWorkTest extends ElectionFixture {
    private final String connectString = "memory:" + UUID.randomUUID();

    @Override
    public String connectString() {
        return connectString;
    }

    @Test
    void closeDoesNotWaitIndefinitelyForWorkThatIgnoresItsInterrupt() throws Exception {
        Coordinator coordinator = connect();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        Candidacy candidacy = electionOf(coordinator).runWhileLeader(leadership -> {
            begun.countDown();
            while (mayEnd.getCount() > 0) {
                try {
                    mayEnd.await();
                } catch (InterruptedException e) {
                    // as careless work does
                }
            }
        });
        assertTrue(begun.await(120, SECONDS));
        CompletableFuture<Leadership> next = electionOf(connect()).campaignAsync();
        awaitCandidates(coordinator, 2);
        candidacy.close();
        assertTrue(candidacy.leadership().orElseThrow().isHeld(), "it leads until its work has ended");
        assertFalse(next.isDone());
        mayEnd.countDown();
        get(next).close();
        candidacy.closeAsync().toCompletableFuture().get(120, SECONDS);
        assertEquals(Optional.empty(), candidacy.leadership());
        awaitNothingLeft(coordinator);
    }

    @Test
    void workThatClearsTheInterruptOfAnotherIsInterruptedForTheEndStill() throws Exception {
        ManualTimeSource clock = new ManualTimeSource();
        Coordinator coordinator =
                opened(builder().timeSource(clock).sessionTimeout(PATIENCE.multipliedBy(2))); // nobody keeps it alive
        AtomicReference<Candidacy> own = new AtomicReference<>();
        CompletableFuture<List<Boolean>> seen = new CompletableFuture<>();
        own.set(electionOf(coordinator).runWhileLeader(leadership -> {
            Thread.currentThread().interrupt(); // as by a lock that is lost, within the work
            CompletableFuture<?> closing =
                    CompletableFuture.runAsync(() -> awaitKnown(own).closeAsync());
            while (!closing.isDone()) { // blocking would answer to the interrupt
                Thread.yield();
            }
            boolean others = Thread.interrupted();
            clock.advance(Duration.ofMillis(10));
            seen.complete(List.of(others, Thread.interrupted()));
        }));
        assertEquals(List.of(true, true), get(seen));
        awaitNothingLeft(coordinator);
        assertEquals(0, own.get().failureCount());
    }

    private static Candidacy awaitKnown(AtomicReference<Candidacy> candidacy) {
        return await().atMost(PATIENCE).until(candidacy::get, Objects::nonNull);
    }

    @Test
    void workMayCloseItsOwnCandidacy() throws Exception {
        Coordinator coordinator = connect();
        AtomicReference<Candidacy> own = new AtomicReference<>();
        CountDownLatch known = new CountDownLatch(1);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Candidacy candidacy = electionOf(coordinator).runWhileLeader(leadership -> {
            known.await();
            own.get().close();
            interrupted.complete(Thread.currentThread().isInterrupted());
        });
        own.set(candidacy);
        known.countDown();
        assertFalse(get(interrupted));
        candidacy.closeAsync().toCompletableFuture().get(120, SECONDS);
        assertEquals(1, candidacy.runCount());
        awaitNothingLeft(coordinator);
    }

    /** A shutdown hook, say. */
    @Test
    void workThatHasClosedItsOwnCandidacyAndGoesOnIsInterruptedByTheNextClose() throws Exception {
        Coordinator coordinator = connect();
        AtomicReference<Candidacy> own = new AtomicReference<>();
        CountDownLatch closed = new CountDownLatch(1);
        own.set(electionOf(coordinator).runWhileLeader(leadership -> {
            awaitKnown(own).close();
            closed.countDown();
            new CountDownLatch(1).await();
        }));
        assertTrue(closed.await(120, SECONDS));
        get(own.get().closeAsync());
        assertEquals(0, own.get().failureCount());
        awaitNothingLeft(coordinator);
    }

    @Test
    void leadershipIsEmptyWhenTheWorkHasEndedThoughTheResignationIsNotConfirmed() throws Exception {
        Coordinator coordinator = opened(builder().sessionTimeout(PATIENCE.multipliedBy(2)));
        CountDownLatch mayEnd = new CountDownLatch(1);
        Candidacy candidacy = electionOf(coordinator).runWhileLeader(leadership -> mayEnd.await());
        await().atMost(PATIENCE).until(() -> candidacy.leadership().isPresent());
        long session = RecipeAccess.session(coordinator).id();
        memoryStore().faults().suspend(session);
        mayEnd.countDown();
        await().atMost(PATIENCE).until(() -> candidacy.leadership().isEmpty());
        memoryStore().faults().restore(session);
    }

    /** Nothing of it is in the line, and nobody knows when there will be a server. */
    @Test
    void candidacyIsClosedAtOnceBeforeTheFirstConnection() throws Exception {
        connect();
        memoryStore().faults().suspendAll();
        try (Coordinator coordinator = builder().start()) {
            get(electionOf(coordinator).runWhileLeader(leadership -> {}).closeAsync());
            memoryStore().faults().restoreAll();
        }
    }

    @Test
    void candidacyThatIsClosedWhileTheConnectionIsAwayEndsWhenItsPlaceIsGone() throws Exception {
        Coordinator other = connect();
        try (Leadership leadership = electionOf(other).campaign(PATIENCE)) {
            Coordinator coordinator = opened(builder().sessionTimeout(PATIENCE.multipliedBy(2)));
            Candidacy candidacy = electionOf(coordinator, "waiting").runWhileLeader(unused -> {});
            awaitCandidates(other, 2);
            NodePath place = candidate(electionOf(other), "waiting").path();
            Faults faults = memoryStore().faults();
            long session = RecipeAccess.session(coordinator).id();
            faults.suspend(session);
            CompletableFuture<Boolean> isLeft = candidacy
                    .closeAsync()
                    .thenApply(ended -> memoryStore().snapshot().containsKey(place));
            assertThrows(TimeoutException.class, () -> isLeft.get(100, MILLISECONDS));
            faults.restore(session);
            assertFalse(get(isLeft));
            assertTrue(leadership.isHeld());
        }
    }

    /** What follows the loss may block, also until the work has ended. */
    @Test
    void workIsInterruptedAlthoughWhatFollowsItsOwnLossWaitsForIt() throws Exception {
        Coordinator coordinator = connect();
        CountDownLatch ended = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<String> how = new CompletableFuture<>();
        electionOf(coordinator).runWhileLeader(leadership -> {
            leadership.lost().thenRun(() -> awaitQuietly(ended));
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                how.complete("interrupted");
            } finally {
                ended.countDown();
            }
        });
        assertTrue(begun.await(120, SECONDS));
        coordinator.execute(
                Delete.of(electionOf(coordinator).candidates().get(0).path()));
        assertEquals("interrupted", get(how));
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void executorThatRejectsTheWorkIsAFailureAndTheLeaderResigns() throws Exception {
        Coordinator coordinator = connect();
        try (Candidacy candidacy = electionOf(coordinator).runWhileLeader(leadership -> {}, task -> {
            throw new RejectedExecutionException("thrown by a test");
        })) {
            await().atMost(PATIENCE).until(() -> candidacy.failureCount() > 0);
            awaitNothingLeft(coordinator);
            assertEquals(0, candidacy.runCount());
        }
    }

    @Test
    void blockedObserverDoesNotHoldUpOthers() throws Exception {
        Coordinator coordinator = connect();
        CountDownLatch mayReturn = new CountDownLatch(1);
        electionOf(coordinator).observe(leader -> awaitQuietly(mayReturn));
        Told told = new Told();
        electionOf(coordinator).observe(told);
        try (Leadership leadership = electionOf(coordinator, "free").campaign(PATIENCE)) {
            told.awaitLast("free");
            assertTrue(leadership.isHeld());
        }
        mayReturn.countDown();
    }

    @Test
    void observerMayCloseItselfInItsCallback() throws Exception {
        Coordinator coordinator = connect();
        AtomicReference<AutoCloseable> own = new AtomicReference<>();
        CountDownLatch known = new CountDownLatch(1);
        Told told = new Told();
        own.set(electionOf(coordinator).observe(leader -> {
            try {
                known.await();
                own.get().close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            told.accept(leader);
        }));
        known.countDown();
        told.awaitLast("-");
        electionOf(coordinator).campaign(PATIENCE).close();
        assertEquals(1, told.states.size());
    }
}
