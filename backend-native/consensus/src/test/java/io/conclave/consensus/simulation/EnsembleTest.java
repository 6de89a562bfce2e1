package io.conclave.consensus.simulation;

import static io.conclave.consensus.simulation.EnsembleSimulation.SECOND_US;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.ChangeOutcomeUnknownException;
import io.conclave.consensus.LogException;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.ReplicatedLog;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** The ensemble's story, step by step, in virtual time. */
class EnsembleTest {
    @Test
    void aClusterBootstrappedOnOneMemberGrowsToThreeByItself() {
        EnsembleSimulation simulation = EnsembleSimulation.three(false);
        assertEquals(1, simulation.leader());
        simulation.settle();
    }

    @Test
    void proposalsOfFollowersAreForwardedAndComeBack() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        for (int i = 0; i < 100; i++) {
            for (int id = 1; id <= 3; id++) {
                assertTrue(simulation.propose(id, 100));
                simulation.read(id);
                simulation.readIndex(id);
            }
        }
        simulation.runFor(SECOND_US);
        assertEquals(300, simulation.history.acknowledgedCount());
        assertEquals(600, simulation.reads);
        simulation.settle();
    }

    static void work(EnsembleSimulation simulation, int through, int count) {
        for (int i = 0; i < count; i++) {
            assertTrue(simulation.propose(through, 50));
            simulation.runFor(2_000);
        }
    }

    @Test
    void requestsInFlightSurviveTheDeathOfTheLeader() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        int follower = leader % 3 + 1;
        for (int i = 0; i < 50; i++) {
            assertTrue(simulation.propose(follower, 50));
        }
        simulation.runFor(300);
        simulation.members.get(leader).kill();
        CounterMachine application = simulation.application(follower);
        simulation.await("all applied", 5, application.open::isEmpty);
        assertEquals(0, application.unknown);
        simulation.settle();
    }

    @Test
    void aFollowerWhoseLeaderDiesHasAnotherOneWithinMilliseconds() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        long fromUs = simulation.time.nowUs();
        simulation.members.get(leader).kill();
        simulation.await("another leader", 2, () -> simulation.leader() != 0 && simulation.leader() != leader);
        long tookMs = (simulation.time.nowUs() - fromUs) / 1000;
        assertTrue(tookMs < 200, "took " + tookMs + " ms");
    }

    @Test
    void aSnapshotInstalledOverPendingRequestsLeavesTheirOutcomeUnknownOnce() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        int follower = leader % 3 + 1;
        CounterMachine application = simulation.application(follower);
        for (int i = 0; i < 20; i++) {
            assertTrue(simulation.propose(follower, 50));
        }
        simulation.runFor(400); // sent, not acknowledged
        simulation.network.cut(leader, follower);
        simulation.network.cut(6 - leader - follower, follower);
        for (int i = 0; i < 3_000; i++) {
            if (!simulation.propose(leader, 7_000)) {
                simulation.runFor(100_000);
            }
            if (i % 20 == 0) {
                simulation.runFor(20_000);
            }
        }
        simulation.runFor(SECOND_US);
        assertFalse(application.open.isEmpty());
        simulation.network.heal();
        simulation.await("outcomes", 30, application.open::isEmpty);
        assertEquals(20, application.unknown);
        simulation.settle();
    }

    @Test
    void aWipedMemberIsTakenInAgainWithItsNewDirectory() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        work(simulation, 1, 300);
        long before = simulation.members.get(3).directory();
        simulation.members.get(3).wipe();
        work(simulation, 1, 10);
        simulation.start(3);
        simulation.await(
                "its vote",
                60,
                () -> simulation.leader() != 0
                        && simulation.configuration().voters().contains(3)
                        && simulation.configuration().members().get(3).directory() != before);
        simulation.settle();
    }

    /** Each read index sends to everybody, so that no heartbeat is ever due. */
    @Test
    void aWipedMemberIsTakenInAgainWhileClientsAskMoreOftenThanTheLeadersHeartbeatComes() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        work(simulation, 1, 300);
        simulation.members.get(3).wipe();
        for (int i = 0; i < 100; i++) {
            simulation.readIndex(1);
            simulation.runFor(SECOND_US / 20);
        }
        simulation.start(3);
        for (int i = 0; i < 400; i++) {
            simulation.readIndex(1);
            simulation.runFor(SECOND_US / 20);
        }
        assertEquals(Set.of(1, 2, 3), simulation.configuration().voters());
        assertEquals(500, simulation.reads);
    }

    @Test
    void anEnsembleGrowsFromThreeToFiveAndShrinksAgain() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        work(simulation, 2, 50);
        simulation.add(4, 5);
        for (int id = 4; id <= 5; id++) {
            simulation.done(simulation.change(new MembershipChange.Put(EnsembleSimulation.member(id, false))));
            simulation.start(id);
        }
        simulation.awaitVoters(1, 2, 3, 4, 5);
        work(simulation, 5, 20);
        simulation.done(simulation.change(new MembershipChange.Remove(4)));
        simulation.done(simulation.change(new MembershipChange.Remove(5)));
        simulation.awaitVoters(1, 2, 3);
        simulation.listed.remove(4);
        simulation.listed.remove(5);
        simulation.members.get(4).kill();
        simulation.members.get(5).kill();
        simulation.members.remove(4);
        simulation.members.remove(5);
        simulation.settle();
    }

    /** A member that asks for another one is not told when its link breaks, and asks again with the next link. */
    @Test
    void aRemovalThatIsAskedForAgainHasBeenMade() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        simulation.done(simulation.change(new MembershipChange.Remove(3)));
        simulation.done(simulation.change(new MembershipChange.Remove(3)));
    }

    @Test
    void aRemovalOfOneThatIsNoMemberIsMadeAndKeepsItOut() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        simulation.add(4);
        simulation.done(simulation.change(new MembershipChange.Remove(4)));
        simulation.start(4);
        simulation.runFor(10 * SECOND_US);
        assertEquals(Set.of(1, 2, 3), simulation.configuration().members().keySet());
    }

    /** A member that was cut off may pass on what an operator asked it for, and has thought better of since. */
    @Test
    void aChangeIsNotMadeIfTheMembersWereChangedSinceItWasAskedFor() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        long known = simulation.log(simulation.leader()).status().configurationIndex();
        simulation.done(simulation.change(new MembershipChange.Remove(3)));
        simulation.done(simulation.change(new MembershipChange.Put(EnsembleSimulation.member(3, false))));
        simulation.awaitVoters(1, 2, 3);
        ReplicatedLog log = simulation.log(simulation.leader());
        CompletableFuture<Long> late =
                log.change(new MembershipChange.Remove(3), known).toCompletableFuture();
        CompletableFuture<Long> made = log.change(new MembershipChange.Put(EnsembleSimulation.member(3, false)), known)
                .toCompletableFuture();
        simulation.await("answers", 20, () -> late.isDone() && made.isDone());
        Throwable unknown = assertThrows(CompletionException.class, late::join).getCause();
        assertTrue(unknown instanceof ChangeOutcomeUnknownException, unknown::toString);
        assertEquals(known, made.join());
        simulation.runFor(5 * SECOND_US);
        assertEquals(Set.of(1, 2, 3), simulation.configuration().voters());
        known = simulation.log(simulation.leader()).status().configurationIndex();
        CompletableFuture<Long> timely = simulation
                .log(simulation.leader())
                .change(new MembershipChange.Remove(3), known)
                .toCompletableFuture();
        simulation.await("the change", 20, timely::isDone);
        assertTrue(timely.join() > known);
        assertEquals(Set.of(1, 2), simulation.configuration().voters());
    }

    /** Else members could not be added one behind the other through a follower. */
    @Test
    void aVoteThatAMemberHasGotSinceIsNoReasonToRefuseAChange() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        simulation.add(4);
        simulation.done(simulation.change(new MembershipChange.Put(EnsembleSimulation.member(4, false))));
        long known = simulation.log(simulation.leader()).status().configurationIndex();
        simulation.start(4);
        simulation.awaitVoters(1, 2, 3, 4);
        assertTrue(known < simulation.log(simulation.leader()).status().configurationIndex());
        CompletableFuture<Long> change = simulation
                .log(simulation.leader())
                .change(new MembershipChange.Remove(4), known)
                .toCompletableFuture();
        simulation.await("the change", 20, change::isDone);
        change.join();
        simulation.awaitVoters(1, 2, 3);
    }

    @Test
    void theLeaderCanBeRemovedAndTheOthersGoOn() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        simulation.done(simulation.change(new MembershipChange.Remove(leader)));
        simulation.await("another leader", 10, () -> simulation.leader() != 0 && simulation.leader() != leader);
        simulation.await(
                "its going", 10, () -> !simulation.configuration().members().containsKey(leader));
        assertEquals(2, simulation.configuration().voters().size());
        simulation.await("no service there", 20, () -> !simulation.application(leader).serving);
    }

    @Test
    void aMemberIsReplacedByAnotherOne() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        work(simulation, 1, 30);
        simulation.members.get(3).kill();
        simulation.add(4);
        simulation.done(simulation.change(new MembershipChange.Put(EnsembleSimulation.member(4, false))));
        simulation.start(4);
        simulation.awaitVoters(1, 2, 3, 4);
        simulation.done(simulation.change(new MembershipChange.Remove(3)));
        simulation.awaitVoters(1, 2, 4);
        simulation.listed.remove(3);
        simulation.members.remove(3);
        simulation.settle();
    }

    @Test
    void aFollowerRefusesChangesAndNamesTheLeader() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        CompletableFuture<Void> change = simulation
                .log(leader % 3 + 1)
                .change(new MembershipChange.Remove(leader))
                .toCompletableFuture();
        simulation.await("an answer", 5, change::isDone);
        CompletionException refused = assertThrows(CompletionException.class, change::join);
        assertTrue(
                refused.getCause() instanceof LogException
                        && refused.getMessage().contains("member " + leader),
                refused.getMessage());
    }

    @Test
    void aLeaderThatIsDeposedDoesNotKnowOfTheChangeUnderWayAndRefusesTheNext() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        int other = leader % 3 + 1;
        simulation.network.isolate(leader);
        ReplicatedLog log = simulation.log(leader);
        CompletableFuture<Void> underWay =
                log.change(new MembershipChange.Remove(other, true)).toCompletableFuture();
        CompletableFuture<Void> next =
                log.change(new MembershipChange.Remove(other, true)).toCompletableFuture();
        simulation.await("answers", 10, () -> underWay.isDone() && next.isDone());
        Throwable unknown =
                assertThrows(CompletionException.class, underWay::join).getCause();
        assertTrue(unknown instanceof ChangeOutcomeUnknownException, unknown::toString);
        Throwable refused = assertThrows(CompletionException.class, next::join).getCause();
        assertEquals("leadership was lost before the change was begun", refused.getMessage());
        simulation.settle();
    }

    @Test
    void aMemberCutOffStopsServingAndAnswersNoReads() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        simulation.network.isolate(leader);
        simulation.read(leader);
        simulation.readIndex(leader);
        simulation.runFor(10 * SECOND_US);
        assertFalse(simulation.application(leader).serving);
        assertEquals(0, simulation.reads);
        assertEquals(LogRole.FOLLOWING, simulation.log(leader).status().role());
        assertTrue(simulation.leader() != leader);
        simulation.network.heal();
        simulation.await("reads", 10, () -> simulation.reads == 2);
        simulation.settle();
    }

    /** It is dialled by the leader and cannot dial it: it hears the leader, and gets nothing but heartbeats. */
    @Test
    void aFollowerThatCannotReachTheLeaderThatItHearsStopsServing() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        int follower = leader % 3 + 1;
        simulation.network.cut(follower, leader);
        work(simulation, leader, 100);
        simulation.runFor(10 * SECOND_US); // half of it until it stops serving
        LogStatus status = simulation.log(follower).status();
        assertEquals(leader, status.leader());
        assertFalse(simulation.application(follower).serving);
        assertTrue(status.noLeaderReason().startsWith("this server hears server " + leader), status::noLeaderReason);
        assertEquals(1, simulation.history.leaderCount());
        simulation.network.heal();
        simulation.await("service", 10, () -> simulation.application(follower).serving);
        assertEquals("", simulation.log(follower).status().noLeaderReason());
        simulation.settle();
    }

    /** A member that the new leader has not heard of may have gone back to software that does not know the level. */
    @Test
    void theFeatureLevelOfADeposedLeaderIsNotPutInForceByTheNextOne() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        int other = leader % 3 + 1;
        simulation.network.isolate(leader);
        assertTrue(simulation.log(leader).propose(new RaisedLevel(7)));
        assertTrue(simulation.propose(leader, 50)); // behind it, in the same sequence
        simulation.await("another leader", 10, () -> simulation.leader() != leader);
        work(simulation, other, 5);
        simulation.network.heal();
        simulation.await("outcomes", 20, simulation.application(leader).open::isEmpty);
        simulation.settle();
        for (int id = 1; id <= 3; id++) {
            assertEquals(0, simulation.application(id).featureLevel);
        }
        int last = simulation.leader();
        assertTrue(simulation.log(last).propose(new RaisedLevel(8)));
        simulation.await("the level", 10, () -> simulation.applications.values().stream()
                .allMatch(each -> each.featureLevel == 8));
        simulation.settle();
    }

    @Test
    void aLeaderThatClosesTransfersLeadershipWithoutAnElectionTimeout() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        work(simulation, leader, 20);
        long fromUs = simulation.time.nowUs();
        simulation.members.get(leader).close();
        simulation.await("another leader", 1, () -> simulation.leader() != 0 && simulation.leader() != leader);
        long tookMs = (simulation.time.nowUs() - fromUs) / 1000;
        assertTrue(tookMs < 100, "took " + tookMs + " ms");
        simulation.await("its end", 5, () -> !simulation.members.get(leader).isAlive());
        simulation.settle();
    }

    @Test
    void aLeaderWhoseDiskIsFullTransfersLeadershipToOneThatHasRoom() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        simulation
                .members
                .get(leader)
                .disk()
                .capacity(simulation.members.get(leader).disk().used());
        simulation.await("another leader", 30, () -> {
            simulation.propose(leader, 5_000);
            simulation.propose(leader % 3 + 1, 5_000);
            return simulation.leader() != 0 && simulation.leader() != leader;
        });
        int follower = leader % 3 + 1;
        work(simulation, follower, 30);
        simulation.await("all applied", 10, simulation.application(follower).open::isEmpty);
        simulation.settle();
    }

    @Test
    void aPauseOfTheLeaderCostsOneElectionAndNothingElse() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        simulation.members.get(leader).pause(5 * SECOND_US);
        int follower = leader % 3 + 1;
        work(simulation, follower, 100);
        simulation.runFor(10 * SECOND_US);
        assertEquals(2, simulation.history.leaderCount());
        simulation.settle();
    }

    @Test
    void aPauseOfAFollowerDoesNotDisturbTheOthers() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        simulation.members.get(leader % 3 + 1).pause(5 * SECOND_US);
        work(simulation, leader, 100);
        simulation.runFor(10 * SECOND_US);
        assertEquals(1, simulation.history.leaderCount());
        simulation.settle();
    }

    @Test
    void aNoticeOfTheLeaderReachesItsMemberOnly() {
        EnsembleSimulation simulation = EnsembleSimulation.three(true);
        int leader = simulation.leader();
        int follower = leader % 3 + 1;
        simulation.log(leader).tell(follower, "made".getBytes(StandardCharsets.UTF_8));
        simulation.runFor(EnsembleSimulation.SECOND_US / 10);
        assertEquals(List.of(leader + " made"), simulation.application(follower).told);
        assertEquals(List.of(), simulation.application(follower % 3 + 1).told);
        assertThrows(
                IllegalArgumentException.class, () -> simulation.log(leader).tell(follower, new byte[9_000]));
    }
}
