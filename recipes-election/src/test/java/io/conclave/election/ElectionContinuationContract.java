package io.conclave.election;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.session.Registration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** What follows a stage of an election, and what an observer does, may block: the session goes on meanwhile. */
abstract class ElectionContinuationContract extends ElectionLossContract {
    private static final class Blocked {
        private final Coordinator coordinator;
        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch mayReturn = new CountDownLatch(1);
        private final CompletableFuture<Boolean> dispatcher = new CompletableFuture<>();

        Blocked(Coordinator coordinator) {
            this.coordinator = coordinator;
        }

        Blocked(Coordinator coordinator, CompletionStage<?> stage) {
            this(coordinator);
            Thread attaching = new Thread(() -> stage.whenComplete((result, failure) -> block()));
            attaching.setDaemon(true);
            attaching.start(); // a stage that is complete already is followed on this thread
            await().atMost(PATIENCE).until(() -> !attaching.isAlive() || entered.getCount() == 0);
        }

        void block() {
            dispatcher.complete(RecipeAccess.session(coordinator).isDispatcherThread());
            entered.countDown();
            try {
                mayReturn.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        void awaitAndSeeTheSessionGoOn(String what) throws Exception {
            try {
                assertTrue(entered.await(120, SECONDS), what);
                assertFalse(dispatcher.get(), what);
                RecipeAccess.session(coordinator)
                        .submit(GetData.of(NodePath.ROOT))
                        .toCompletableFuture()
                        .get(120, SECONDS);
                get(LeaderElection.at(coordinator, "/elections/other").campaignAsync())
                        .close();
            } finally {
                mayReturn.countDown();
            }
        }
    }

    @Test
    void continuationsOfACampaignAndItsLeadershipMayBlock() throws Exception {
        Coordinator coordinator = connect();
        Leadership first = electionOf(connect()).campaign(PATIENCE);
        CompletableFuture<Leadership> campaign = electionOf(coordinator).campaignAsync();
        Blocked elected = new Blocked(coordinator, campaign);
        first.close();
        elected.awaitAndSeeTheSessionGoOn("campaignAsync");
        new Blocked(coordinator, electionOf(coordinator).leaderAsync()).awaitAndSeeTheSessionGoOn("leaderAsync");
        Leadership leader = get(campaign);
        Blocked lost = new Blocked(coordinator, leader.lost());
        coordinator.execute(Delete.of(leader.path()));
        lost.awaitAndSeeTheSessionGoOn("lost()");
    }

    @Test
    void continuationsOfAHandOverMayBlock() throws Exception {
        Coordinator coordinator = connect();
        LeaderElection election = electionOf(coordinator);
        Leadership leader = election.campaign(PATIENCE);
        CompletableFuture<Leadership> named = electionOf(connect(), "named").campaignAsync();
        awaitCandidates(coordinator, 2);
        Blocked lost = new Blocked(coordinator, leader.lost());
        Blocked handOver = new Blocked(coordinator, leader.handOverAsync(candidate(election, "named")));
        lost.awaitAndSeeTheSessionGoOn("lost()");
        handOver.awaitAndSeeTheSessionGoOn("handOverAsync");
        get(named).close();
    }

    @Test
    void observersAndWhatFollowsTheEndOfACandidacyMayBlock() throws Exception {
        Coordinator coordinator = connect();
        Blocked observer = new Blocked(coordinator);
        Registration observation = electionOf(coordinator).observe(leader -> observer.block());
        observer.awaitAndSeeTheSessionGoOn("observe");
        observation.close();
        CountDownLatch works = new CountDownLatch(1);
        Candidacy candidacy = electionOf(coordinator).runWhileLeader(leadership -> {
            works.countDown();
            new CountDownLatch(1).await();
        });
        assertTrue(works.await(120, SECONDS));
        new Blocked(coordinator, candidacy.closeAsync()).awaitAndSeeTheSessionGoOn("closeAsync of a candidacy");
        awaitNothingLeft(coordinator);
    }

    @Test
    void completingOrCancellingAFutureDoesNotAffectOthers() throws Exception {
        Coordinator coordinator = connect();
        Leadership leadership = electionOf(coordinator).campaign(PATIENCE);
        assertTrue(leadership.lost().complete(LossReason.REVOKED));
        assertTrue(leadership.revocationRequested().complete(null));
        assertTrue(leadership.isHeld());
        assertFalse(leadership.lost().isDone());
        assertFalse(leadership.revocationRequested().isDone());
        leadership.resignAsync().cancel(true);
        assertEquals(LossReason.RELEASED, leadership.lost().get(120, SECONDS));
        CountDownLatch works = new CountDownLatch(1);
        CompletableFuture<Void> end = new CompletableFuture<>();
        Candidacy candidacy = electionOf(coordinator).runWhileLeader(leader -> {
            works.countDown();
            end.join(); // which an interrupt does not end
        });
        assertTrue(works.await(120, SECONDS));
        assertTrue(candidacy.closeAsync().complete(null)); // the work goes on to its end
        end.complete(null);
        candidacy.closeAsync().get(120, SECONDS);
        awaitNothingLeft(coordinator);
    }
}
