package io.conclave.proofs.interop;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.election.LeaderElection;
import io.conclave.spring.integration.ConclaveLeaderInitiator;
import io.conclave.spring.integration.ConclaveLockRegistry;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.integration.leader.DefaultCandidate;

/**
 * Our lock registry and leader initiator exclude Spring's own: the recipes of Curator of which those are made, on the
 * paths that they use.
 */
class SpringIntegrationBesideCuratorIT extends CuratorBesideOurs {
    private static final String ROLE = "cleaner";
    private static final String LEADERS = "/spring-integration/leader/" + ROLE;

    @ParameterizedTest
    @EnumSource
    void lockOfTheRegistryExcludesTheMutex(ServerKind kind) throws Exception {
        open(kind);
        Lock ours = new ConclaveLockRegistry(coordinator).obtain("order-4711");
        InterProcessMutex theirs = new InterProcessMutex(curator, "/SpringIntegration-LockRegistry/order-4711");
        ours.lock();
        assertFalse(theirs.acquire(200, MILLISECONDS));
        Future<?> waits = threads.submit(() -> {
            theirs.acquire();
            return null;
        });
        await().until(() -> theirs.getParticipantNodes().size() == 2);
        ours.unlock();
        waits.get(PATIENCE.toSeconds(), SECONDS);
        assertFalse(ours.tryLock(200, MILLISECONDS));
    }

    @ParameterizedTest
    @EnumSource
    void mutexIsWaitedForByTheRegistry(ServerKind kind) throws Exception {
        open(kind);
        Lock ours = new ConclaveLockRegistry(coordinator).obtain("order-4711");
        InterProcessMutex theirs = new InterProcessMutex(curator, "/SpringIntegration-LockRegistry/order-4711");
        theirs.acquire();
        assertFalse(ours.tryLock());
        assertFalse(ours.tryLock(200, MILLISECONDS));
        theirs.release();
        assertTrue(ours.tryLock(PATIENCE.toSeconds(), SECONDS));
        ours.unlock();
    }

    /** Leads until it is told to end. */
    private static final class Theirs extends LeaderSelectorListenerAdapter {
        private final CountDownLatch leads = new CountDownLatch(1);
        private final CountDownLatch mayEnd = new CountDownLatch(1);

        @Override
        public void takeLeadership(CuratorFramework client) throws InterruptedException {
            leads.countDown();
            mayEnd.await();
        }
    }

    @ParameterizedTest
    @EnumSource
    void initiatorAndSelectorLeadOneAfterTheOther(ServerKind kind) throws Exception {
        open(kind);
        ConclaveLeaderInitiator ours = new ConclaveLeaderInitiator(coordinator, new DefaultCandidate("ours", ROLE));
        Theirs listener = new Theirs();
        ours.start();
        await().atMost(PATIENCE).until(() -> ours.getContext().isLeader());
        try (LeaderSelector theirs = new LeaderSelector(curator, LEADERS, listener)) {
            theirs.start();
            awaitCandidates(2);
            assertFalse(theirs.hasLeadership());
            ours.getContext().yield();
            assertTrue(listener.leads.await(PATIENCE.toSeconds(), SECONDS));
            awaitCandidates(2);
            assertFalse(ours.getContext().isLeader());
            listener.mayEnd.countDown();
            await().atMost(PATIENCE).until(() -> ours.getContext().isLeader());
        }
        ours.stop();
    }

    private void awaitCandidates(int count) {
        LeaderElection election = LeaderElection.at(coordinator, LEADERS);
        await().atMost(PATIENCE).until(() -> election.candidates().size() == count);
    }
}
