package io.conclave.spring.integration;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.election.LeaderElection;
import io.conclave.election.Leadership;
import io.conclave.request.Delete;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.RecipeFixture;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationListener;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.integration.leader.AbstractCandidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.leader.event.AbstractLeaderEvent;
import org.springframework.integration.leader.event.OnGrantedEvent;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;

/** What candidates and listeners of Spring Integration's leader events rely on. */
class ConclaveLeaderInitiatorTest extends SpringIntegrationFixture {
    private static final String PATH = "/spring-integration/leader/cleaner";

    private final Coordinator coordinator = open();
    private final Coordinator otherProcess = open();
    private final List<String> told = new CopyOnWriteArrayList<>();
    private final List<ConclaveLeaderInitiator> initiators = new CopyOnWriteArrayList<>();

    private Coordinator open() {
        return opened(Coordinator.builder(connectString()).sessionTimeout(sessionTimeout()));
    }

    @AfterEach
    void stopAll() {
        initiators.forEach(ConclaveLeaderInitiator::stop);
    }

    /** Notes what it is told. */
    private class Noting extends AbstractCandidate {
        Noting(String id) {
            super(id, "cleaner");
        }

        @Override
        public void onGranted(Context context) throws InterruptedException {
            told.add(getId() + " granted, leader: " + context.isLeader());
        }

        @Override
        public void onRevoked(Context context) {
            assertFalse(Thread.currentThread().isInterrupted());
            told.add(getId() + " revoked, leader: " + context.isLeader());
        }
    }

    private ConclaveLeaderInitiator started(Coordinator process, AbstractCandidate candidate) {
        ConclaveLeaderInitiator initiator = new ConclaveLeaderInitiator(process, candidate);
        initiators.add(initiator);
        initiator.start();
        return initiator;
    }

    private void awaitTold(String... expected) {
        await().untilAsserted(() -> assertEquals(List.of(expected), told));
    }

    @Test
    void candidatesLeadOneAfterTheOther() throws Exception {
        ConclaveLeaderInitiator first = started(coordinator, new Noting("a"));
        awaitTold("a granted, leader: true");
        assertTrue(first.leadership().isPresent());
        ConclaveLeaderInitiator second = started(otherProcess, new Noting("b"));
        await().until(() -> candidates() == 2);
        assertFalse(second.getContext().isLeader());
        first.stop();
        assertFalse(first.isRunning());
        awaitTold("a granted, leader: true", "a revoked, leader: false", "b granted, leader: true");
        first.start();
        await().until(() -> candidates() == 2);
        second.stop();
        awaitTold(
                "a granted, leader: true",
                "a revoked, leader: false",
                "b granted, leader: true",
                "b revoked, leader: false",
                "a granted, leader: true");
    }

    private int candidates() throws InterruptedException {
        return LeaderElection.at(otherProcess, PATH).candidates().size();
    }

    @Test
    void idIsTheDataThatOthersSee() throws Exception {
        started(coordinator, new Noting("host-7"));
        LeaderElection election = LeaderElection.at(otherProcess, PATH);
        await().until(() -> election.leader().isPresent());
        assertEquals("host-7", new String(election.leader().orElseThrow().data()));
    }

    @Test
    void leaderThatYieldsGoesToTheEndOfTheLine() throws Exception {
        ConclaveLeaderInitiator first = started(coordinator, new Noting("a"));
        awaitTold("a granted, leader: true");
        started(otherProcess, new Noting("b"));
        await().until(() -> candidates() == 2);
        first.getContext().yield();
        awaitTold("a granted, leader: true", "a revoked, leader: false", "b granted, leader: true");
        await().until(() -> candidates() == 2);
        assertFalse(first.getContext().isLeader());
        first.getContext().yield(); // nothing to yield
        assertTrue(first.isRunning());
    }

    @Test
    void lostSessionRevokesAndTheCandidateStandsInLineAgain() {
        started(coordinator, new Noting("a"));
        awaitTold("a granted, leader: true");
        expire(coordinator);
        awaitTold("a granted, leader: true", "a revoked, leader: false", "a granted, leader: true");
    }

    /** Does its work in onGranted, until it is interrupted. */
    private final class Working extends Noting {
        private final CountDownLatch isAtWork = new CountDownLatch(1);
        private final boolean swallows;

        Working(String id, boolean swallows) {
            super(id);
            this.swallows = swallows;
        }

        @Override
        public void onGranted(Context context) throws InterruptedException {
            super.onGranted(context);
            isAtWork.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                told.add(getId() + " interrupted");
                if (!swallows) {
                    throw e;
                }
            }
        }
    }

    @Test
    void candidateAtWorkIsInterruptedWhenTheLeadershipIsLost() throws Exception {
        for (boolean swallows : new boolean[] {true, false}) {
            told.clear();
            Working candidate = new Working("a", swallows);
            ConclaveLeaderInitiator initiator = started(coordinator, candidate);
            candidate.isAtWork.await();
            expire(coordinator);
            awaitTold(
                    "a granted, leader: true", "a interrupted", "a revoked, leader: false", "a granted, leader: true");
            initiator.stop();
            assertEquals("a revoked, leader: false", told.get(told.size() - 1));
            assertEquals(0, candidates());
        }
    }

    @Test
    void candidateThatHasYieldedAndIsStillAtWorkIsInterruptedAsAnyOther() throws Exception {
        CountDownLatch hasYielded = new CountDownLatch(2);
        ConclaveLeaderInitiator initiator = started(coordinator, new Noting("a") {
            @Override
            public void onGranted(Context context) throws InterruptedException {
                context.yield();
                assertFalse(Thread.currentThread().isInterrupted());
                hasYielded.countDown();
                try {
                    new CountDownLatch(1).await();
                } finally {
                    told.add("ended");
                }
            }
        });
        await().until(() -> hasYielded.getCount() == 1);
        expire(coordinator);
        awaitTold("ended", "a revoked, leader: false");
        hasYielded.await();
        initiator.stop();
        awaitTold("ended", "a revoked, leader: false", "ended", "a revoked, leader: false");
    }

    @Test
    void candidateThatClearsTheInterruptOfAnotherIsInterruptedForTheEndStill() {
        ManualTimeSource clock = new ManualTimeSource();
        Coordinator process = opened(Coordinator.builder(connectString()).timeSource(clock));
        started(process, new Noting("a") {
            @Override
            public void onGranted(Context context) throws InterruptedException {
                Thread.currentThread().interrupt(); // as by a lock that is lost, within the candidate's work
                Future<?> yielding = threads.submit(context::yield);
                while (!yielding.isDone()) { // blocking would answer to the interrupt
                    Thread.yield();
                }
                boolean others = Thread.interrupted();
                clock.advance(Duration.ofMillis(10));
                told.add(others + " " + Thread.interrupted());
            }
        });
        await().until(() -> told.size() >= 2);
        assertEquals(
                List.of("true true", "a revoked, leader: false"),
                List.copyOf(told).subList(0, 2));
    }

    @Test
    void successorLeadsOnlyWhenTheCandidateIsRevoked() throws Exception {
        CountDownLatch mayEnd = new CountDownLatch(1);
        ConclaveLeaderInitiator slow = started(coordinator, new Noting("slow") {
            @Override
            public void onRevoked(Context context) {
                try {
                    mayEnd.await();
                } catch (InterruptedException e) {
                    told.add("interrupted while it is revoked");
                }
                super.onRevoked(context);
            }
        });
        awaitTold("slow granted, leader: true");
        started(otherProcess, new Noting("next"));
        await().until(() -> candidates() == 2);
        threads.submit(() -> slow.stop());
        await().until(() -> !slow.isRunning() && !slow.getContext().isLeader());
        assertEquals(2, candidates());
        mayEnd.countDown();
        awaitTold("slow granted, leader: true", "slow revoked, leader: false", "next granted, leader: true");
    }

    @Test
    void candidateThatFailsIsRevokedAndCampaignsAgain() {
        AtomicInteger attempts = new AtomicInteger();
        started(coordinator, new Noting("a") {
            @Override
            public void onGranted(Context context) throws InterruptedException {
                if (attempts.incrementAndGet() == 1) {
                    throw new IllegalStateException("not ready");
                }
                super.onGranted(context);
            }
        });
        awaitTold("a revoked, leader: false", "a granted, leader: true");
    }

    @Test
    void candidateMayYieldOrStopInItsOwnCall() throws Exception {
        ConclaveLeaderInitiator[] own = new ConclaveLeaderInitiator[1];
        CountDownLatch isSet = new CountDownLatch(1);
        AtomicInteger grants = new AtomicInteger();
        own[0] = started(coordinator, new Noting("a") {
            @Override
            public void onGranted(Context context) throws InterruptedException {
                isSet.await();
                super.onGranted(context);
                if (grants.incrementAndGet() == 1) {
                    context.yield();
                } else {
                    own[0].stop();
                }
                assertFalse(Thread.currentThread().isInterrupted());
            }
        });
        isSet.countDown();
        awaitTold(
                "a granted, leader: true",
                "a revoked, leader: false",
                "a granted, leader: true",
                "a revoked, leader: false");
        await().until(() -> candidates() == 0);
        assertFalse(own[0].isRunning());
    }

    private interface Ending {
        void end(Leadership leadership, io.conclave.election.Candidate heir) throws InterruptedException;
    }

    @Test
    void candidateThatHandsOverInItsOwnCallIsNotInterruptedByThat() throws Exception {
        candidateThatGivesUpIsNotInterrupted(Leadership::handOver);
    }

    @Test
    void candidateThatResignsInItsOwnCallIsNotInterruptedByThat() throws Exception {
        candidateThatGivesUpIsNotInterrupted((leadership, heir) -> leadership.resign());
    }

    /** But a stop interrupts it, if it is still at work. */
    private void candidateThatGivesUpIsNotInterrupted(Ending ending) throws Exception {
        LeaderElection election = LeaderElection.at(otherProcess, PATH);
        AtomicReference<ConclaveLeaderInitiator> own = new AtomicReference<>();
        Noting candidate = new Noting("a") {
            @Override
            public void onGranted(Context context) throws InterruptedException {
                await().until(() -> own.get() != null && candidates() == 2);
                ending.end(
                        own.get().leadership().orElseThrow(),
                        election.candidates().get(1));
                told.add("given up, interrupted: " + Thread.currentThread().isInterrupted());
                try {
                    new CountDownLatch(1).await();
                } finally {
                    told.add("ended");
                }
            }
        };
        ConclaveLeaderInitiator initiator = started(coordinator, candidate);
        faults.onNext(sessionOf(coordinator), request -> isDeletion(request), RequestFate.HOLD_REPLY);
        own.set(initiator);
        await().until(() -> candidates() == 1);
        CompletableFuture<Leadership> heir = election.campaignAsync();
        await().until(heir::isDone);
        await().until(() -> !initiator.getContext().isLeader());
        faults.releaseReplies(sessionOf(coordinator));
        awaitTold("given up, interrupted: false");
        initiator.stop();
        awaitTold("given up, interrupted: false", "ended", "a revoked, leader: false");
    }

    private static boolean isDeletion(Request<?> request) {
        return request instanceof Multi multi
                && multi.operations().stream().anyMatch(operation -> operation instanceof Delete);
    }

    @Test
    void contextStartsItPublishesEventsAndStopsIt() {
        List<String> events = new CopyOnWriteArrayList<>();
        GenericApplicationContext context = new GenericApplicationContext();
        context.registerBean(
                ConclaveLeaderInitiator.class,
                () -> new ConclaveLeaderInitiator(coordinator, new DefaultCandidate("a", "cleaner")));
        context.addApplicationListener((ApplicationListener<AbstractLeaderEvent>) event -> {
            events.add((event instanceof OnGrantedEvent ? "granted " : "revoked ") + event.getRole());
            throw new IllegalStateException("a listener that fails");
        });
        context.refresh();
        await().until(() -> events.equals(List.of("granted cleaner")));
        ConclaveLeaderInitiator initiator = context.getBean(ConclaveLeaderInitiator.class);
        assertEquals(Integer.MAX_VALUE - 1000, initiator.getPhase());
        context.close();
        assertEquals(List.of("granted cleaner", "revoked cleaner"), events);
        assertFalse(initiator.isRunning());
        assertFalse(initiator.getContext().isLeader());
    }

    @Test
    void startAndStopMayBeRepeated() {
        ConclaveLeaderInitiator initiator = started(coordinator, new Noting("a"));
        initiator.start();
        awaitTold("a granted, leader: true");
        initiator.stop();
        initiator.stop();
        awaitTold("a granted, leader: true", "a revoked, leader: false");
        ConclaveLeaderInitiator quiet =
                new ConclaveLeaderInitiator(coordinator, new DefaultCandidate("b", "cleaner"), "elsewhere");
        quiet.setAutoStartup(false);
        quiet.setPhase(7);
        assertFalse(quiet.isAutoStartup());
        assertEquals(7, quiet.getPhase());
        assertEquals("ConclaveLeaderInitiator[/elsewhere/cleaner, b]", quiet.toString());
        assertThrows(
                IllegalArgumentException.class,
                () -> new ConclaveLeaderInitiator(coordinator, new DefaultCandidate("b", "a//b")));
    }

    @Test
    void leadershipHasATokenThatGrows() {
        ConclaveLeaderInitiator initiator = started(coordinator, new Noting("a"));
        await().until(() -> initiator.leadership().isPresent());
        Leadership first = initiator.leadership().orElseThrow();
        initiator.getContext().yield();
        await().until(() -> initiator
                .leadership()
                .filter(next -> next.token().compareTo(first.token()) > 0)
                .isPresent());
    }

    /** Spring's own initiator, which tries the lock twice per second without end, works with our registry as well. */
    @Test
    void lockRegistryLeaderInitiatorWorksWithOurRegistry() throws Exception {
        LockRegistryLeaderInitiator initiator =
                new LockRegistryLeaderInitiator(new ConclaveLockRegistry(coordinator), new Noting("a"));
        initiator.setHeartBeatMillis(20);
        initiator.setBusyWaitMillis(10);
        initiator.start();
        awaitTold("a granted, leader: true");
        expire(coordinator);
        await().until(() -> told.size() >= 3);
        assertEquals(
                List.of("a granted, leader: true", "a revoked, leader: false", "a granted, leader: true"),
                List.copyOf(told).subList(0, 3));
        initiator.stop();
        initiator.destroy();
        await().until(() -> RecipeFixture.children(otherProcess, ConclaveLockRegistry.DEFAULT_ROOT + "/cleaner")
                .isEmpty());
    }
}
