package io.conclave.proofs.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.election.Candidate;
import io.conclave.election.LeaderElection;
import io.conclave.election.Leadership;
import io.conclave.election.TransferFailedException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Curator's LeaderSelector and our election on one path stand in one line, and our acknowledgement does not disturb
 * theirs.
 */
@Tag("default")
class CuratorAndOurElectionIT extends CuratorBesideOurs {
    private static final String PATH = "/elections/shared";

    private LeaderElection ours(String name) {
        return LeaderElection.at(coordinator, PATH).withData(name.getBytes(UTF_8));
    }

    private void awaitCandidates(int count) {
        await().atMost(PATIENCE).until(() -> ours("").candidates().size() == count);
    }

    /** A selector of Curator that leads until it is asked to stop. */
    private final class Theirs extends LeaderSelectorListenerAdapter implements AutoCloseable {
        final Semaphore leads = new Semaphore(0);
        final CountDownLatch mayEnd = new CountDownLatch(1);
        final LeaderSelector selector = new LeaderSelector(curator, PATH, this);

        Theirs(String id) {
            selector.setId(id);
            selector.start();
        }

        @Override
        public void takeLeadership(CuratorFramework client) throws InterruptedException {
            leads.release();
            mayEnd.await();
        }

        @Override
        public void close() {
            mayEnd.countDown();
            selector.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void weWaitForCuratorsLeaderAndItWaitsForOurs(ServerKind kind) throws Exception {
        open(kind);
        Leadership first = ours("first").campaign(PATIENCE);
        try (Theirs theirs = new Theirs("theirs")) {
            awaitCandidates(2);
            CompletableFuture<Leadership> second = ours("second").campaignAsync();
            awaitCandidates(3);
            assertFalse(theirs.leads.tryAcquire(300, java.util.concurrent.TimeUnit.MILLISECONDS));
            assertEquals(
                    List.of("first", "theirs", "second"),
                    ours("").candidates().stream().map(Candidate::text).toList());
            assertEquals("first", theirs.selector.getLeader().getId());
            first.close();
            assertTrue(theirs.leads.tryAcquire(20, SECONDS));
            assertTrue(ours("").leader().isEmpty(), "it leads without an acknowledgement");
            assertFalse(second.isDone());
            theirs.mayEnd.countDown();
            Leadership next = second.get(120, SECONDS);
            assertTrue(next.token().compareTo(first.token()) > 0);
            assertEquals("second", ours("").leader().orElseThrow().text());
            next.close();
        }
        awaitCandidates(0);
    }

    @ParameterizedTest
    @EnumSource
    void curatorSeesOurAcknowledgementAsTheLastParticipant(ServerKind kind) throws Exception {
        open(kind);
        try (Leadership leadership = ours("ours").campaign(PATIENCE);
                Theirs theirs = new Theirs("theirs")) {
            awaitCandidates(2);
            List<Participant> participants = List.copyOf(theirs.selector.getParticipants());
            assertEquals(
                    List.of("ours", "theirs"),
                    participants.stream().limit(2).map(Participant::getId).toList());
            assertEquals(3, participants.size(), participants::toString);
            assertTrue(participants.get(0).isLeader());
            assertTrue(leadership.isHeld());
        }
    }

    @ParameterizedTest
    @EnumSource
    void handOverFailsWhereCuratorStandsInTheWay(ServerKind kind) throws Exception {
        open(kind);
        Leadership leader = ours("leader").campaign(PATIENCE);
        try (Theirs theirs = new Theirs("theirs")) {
            awaitCandidates(2);
            CompletableFuture<Leadership> named = ours("named").campaignAsync();
            awaitCandidates(3);
            Candidate successor = ours("").candidates().get(2);
            TransferFailedException failure = assertThrows(
                    TransferFailedException.class, () -> leader.handOver(successor, Duration.ofMillis(500)));
            assertTrue(failure.getMessage().contains("theirs"), failure::toString);
            assertTrue(leader.isHeld());
            leader.handOver(ours("").candidates().get(1), PATIENCE); // but it may be named itself
            assertTrue(theirs.leads.tryAcquire(20, SECONDS));
            theirs.mayEnd.countDown();
            named.get(120, SECONDS).close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void neverTwoInsideAmongSelectorsMutexesAndOurs(ServerKind kind) throws Exception {
        open(kind);
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger ofSelector = new AtomicInteger();
        Runnable enter = () -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            inside.decrementAndGet();
        };
        LeaderSelector selector = new LeaderSelector(curator, PATH, new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework client) {
                enter.run();
                ofSelector.incrementAndGet();
            }
        });
        selector.autoRequeue();
        selector.start();
        InterProcessMutex mutex = new InterProcessMutex(curator, PATH);
        for (int round = 0; round < 20 || ofSelector.get() == 0; round++) { // it stands in line when it comes to that
            try (Leadership leadership = ours("ours").campaign(PATIENCE)) {
                enter.run();
                leadership.ensureHeld();
            }
            mutex.acquire();
            enter.run();
            mutex.release();
        }
        selector.close();
        assertEquals(1, most.get());
    }
}
