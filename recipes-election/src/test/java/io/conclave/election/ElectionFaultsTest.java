package io.conclave.election;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.node.NodePath;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import io.conclave.testkit.driver.Holding;
import java.time.Duration;
import java.util.Arrays;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of an election's runs: no candidate is blocked, two never lead, nothing stays behind, and
 * the victim gets the right kind of failure.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class ElectionFaultsTest {
    private static final String PATH = "/elections/faults";

    private static LeaderElection election(Actor actor) {
        return LeaderElection.at(actor.coordinator(), PATH)
                .withData(actor.name().getBytes(UTF_8));
    }

    private static Candidate candidate(Actor asking, String name) throws InterruptedException {
        return election(asking).candidates().stream()
                .filter(one -> one.text().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static Actor campaigning(FaultRun run, String name) throws InterruptedException {
        Actor helper = run.helper(name);
        helper.start(me -> me.hold(election(me).campaign()));
        run.untilAtRest();
        return helper;
    }

    /** What other processes do while the victim is away. */
    private static void rivals(FaultRun run) {
        run.rival("leads if it can", me -> leadWithin(me, Duration.ofSeconds(12))); // longer than a session lives
        run.rival("throws it out", me -> run.deleteZnodesOfVictim());
    }

    private static void leadIfThereIsNoLeader(Actor me) throws InterruptedException {
        leadWithin(me, Duration.ofSeconds(1));
    }

    private static void leadWithin(Actor me, Duration timeout) throws InterruptedException {
        try {
            me.hold(election(me).campaign(timeout));
        } catch (AcquireTimeoutException somebodyLeads) {
            // that is as good
        }
    }

    static FaultDriver leader() {
        return FaultDriver.of("election, leader", run -> {
            rivals(run);
            run.victim().start(me -> me.hold(election(me).campaign()));
            run.untilAtRest();
            run.helper("next").start(me -> me.hold(election(me).campaign()));
        });
    }

    @Test
    void leaderDoesNotBlockOthersUnderAnyFault() {
        leader().verify();
    }

    @Test
    void asynchronousLeaderDoesNotBlockOthersUnderAnyFault() {
        FaultDriver.of("election, asynchronous leader", run -> {
                    rivals(run);
                    run.victim().start(me -> me.hold(me.await(election(me).campaignAsync())));
                    run.untilAtRest();
                    run.helper("next").start(me -> me.hold(election(me).campaign()));
                })
                .verify();
    }

    @Test
    void candidateLeadsOrSaysWhyNot() {
        FaultDriver.of("election, candidate", run -> {
                    rivals(run);
                    Actor first = run.helper("first");
                    Holding held = first.granted(election(first).campaign());
                    run.victim().start(me -> me.hold(election(me).campaign()));
                    run.untilAtRest();
                    campaigning(run, "behind");
                    held.release();
                })
                .verify();
    }

    @Test
    void candidateThatTimesOutLeavesNothingBehind() {
        FaultDriver.of("election, giving up", run -> {
                    rivals(run);
                    Actor first = run.helper("first");
                    Holding held = first.granted(election(first).campaign());
                    run.victim().start(me -> me.hold(election(me).campaign(Duration.ofSeconds(5))));
                    run.untilAtRest();
                    campaigning(run, "behind");
                    run.victim().join();
                    held.release();
                })
                .expecting(AcquireTimeoutException.class)
                .verify();
    }

    @Test
    void interruptedCandidateLeavesNothingBehind() {
        FaultDriver.of("election, interrupted candidate", run -> {
                    rivals(run);
                    Actor first = run.helper("first");
                    Holding held = first.granted(election(first).campaign());
                    run.victim().start(me -> me.hold(election(me).campaign()));
                    run.untilAtRest();
                    campaigning(run, "behind");
                    run.interruptVictim();
                    run.victim().join();
                    held.release();
                })
                .expecting(InterruptedException.class)
                .verify();
    }

    static FaultDriver leaderThatHandsOver() {
        return FaultDriver.of("election, handing over", run -> {
                    run.rival("leads if there is no leader", ElectionFaultsTest::leadIfThereIsNoLeader);
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    AtomicReference<Leadership> leadership = new AtomicReference<>();
                    run.victim().start(me -> leadership.set(election(me).campaign()));
                    run.victim().join();
                    if (leadership.get() == null) {
                        return;
                    }
                    Holding held = run.victim().granted(leadership.get());
                    campaigning(run, "between");
                    campaigning(run, "named");
                    run.victim().start(me -> {
                        try {
                            Candidate named = candidate(me, "named");
                            held.ends(); // from here on it may be the successor's
                            leadership.get().handOver(named);
                        } catch (NoSuchElementException over) {
                            run.pause(Duration.ZERO); // we had lost it, and the named one has come and gone
                        } finally {
                            held.ends();
                            leadership.get().close();
                        }
                    });
                })
                .explaining(
                        TransferFailedException.class,
                        Arrays.stream(Fault.values())
                                .filter(fault -> fault.endsSession() || fault.deletesNodes())
                                .toArray(Fault[]::new));
    }

    @Test
    void leaderThatHandsOverIsFollowedOrStays() {
        leaderThatHandsOver().verify();
    }

    @Test
    void candidateThatStepsBackLeadsLater() {
        FaultDriver.of("election, stepping back", run -> {
                    rivals(run);
                    Actor first = run.helper("first");
                    Leadership leadership = election(first).campaign();
                    Holding held = first.granted(leadership);
                    run.victim().start(me -> me.hold(election(me).campaign()));
                    run.untilAtRest();
                    campaigning(run, "named");
                    first.start(me -> {
                        Candidate named = candidate(me, "named");
                        held.ends();
                        leadership.handOver(named);
                    });
                })
                .verify();
    }

    /** Another process throws the leader out and leads, also when that one is back. */
    private static void usurp(FaultRun run, Actor rival) throws InterruptedException {
        run.deleteZnodesOfVictim();
        SimpleLeader usurper = new SimpleLeader(run.helper("usurper for " + rival.name()), NodePath.of(PATH));
        if (usurper.leadsWithin(run, Duration.ofSeconds(12))) {
            usurper.actor().start(me -> {
                run.pause(Duration.ofMillis(750));
                usurper.checkAndResign(run);
            });
        }
    }

    static FaultDriver leaderThatUpdates() {
        return FaultDriver.of("election, update", run -> {
                    rivals(run);
                    run.rival("usurps", me -> usurp(run, me));
                    run.victim().start(me -> {
                        Leadership leadership = election(me).campaign();
                        Holding held = me.granted(leadership);
                        try {
                            leadership.update("one".getBytes(UTF_8));
                            leadership.update("two".getBytes(UTF_8));
                            Optional<Leader> leader = election(me).leader();
                            if (leader.filter(one -> one.token().equals(leadership.token()))
                                    .filter(one -> !one.text().equals("two"))
                                    .isPresent()) {
                                run.violated("two was written, and others see " + leader);
                            }
                        } finally {
                            held.release();
                        }
                    });
                    run.untilAtRest();
                    campaigning(run, "next");
                })
                .also("9:CUT_OFF_LATE/usurps") // an update that arrives when another one leads
                .also("10:CUT_OFF_LATE/usurps")
                .also("11:CUT_OFF_LATE/usurps");
    }

    @Test
    void leaderThatUpdatesWritesWhileItLeadsOnly() {
        leaderThatUpdates().verify();
    }

    static FaultDriver observer() {
        AtomicReference<String> told = new AtomicReference<>("");
        return FaultDriver.of("election, observer", run -> {
                    run.rival("leads if there is no leader", ElectionFaultsTest::leadIfThereIsNoLeader);
                    told.set("");
                    run.victim().start(me -> election(me)
                            .observe(leader -> told.set(leader.map(Leader::text).orElse("none"))));
                    run.untilAtRest();
                    Actor leading = campaigning(run, "first");
                    leading.join();
                    campaigning(run, "second").join();
                })
                .afterwards(run -> {
                    run.pause(Duration.ofSeconds(30)); // until the next session, should this one have been lost
                    run.untilAtRest();
                    if (!told.get().equals("none")) {
                        run.violated("there is no leader, and the observer was told last: " + told);
                    }
                });
    }

    @Test
    void observerReceivesTheLastState() {
        observer().verify();
    }

    @Test
    void observerReceivesThePresentLeader() {
        AtomicReference<String> told = new AtomicReference<>("");
        AtomicReference<Leadership> leads = new AtomicReference<>();
        FaultDriver.of("election, observer of a leader", run -> {
                    run.rival("leads if there is no leader", ElectionFaultsTest::leadIfThereIsNoLeader);
                    told.set("");
                    run.victim().start(me -> election(me)
                            .observe(leader -> told.set(leader.map(Leader::text).orElse("none"))));
                    campaigning(run, "first").join();
                    Actor last = run.helper("last");
                    leads.set(election(last).campaign());
                })
                .keepingZnodesUntilTheEnd()
                .afterwards(run -> {
                    run.pause(Duration.ofSeconds(30));
                    run.untilAtRest();
                    if (!told.get().equals("last")) {
                        run.violated(leads + " leads, and the observer was told last: " + told);
                    }
                })
                .verify();
    }

    @Test
    void candidacyWorksAgainAfterEveryFault() {
        FaultDriver.of("election, work", run -> {
                    rivals(run);
                    run.victim().start(me -> {
                        CompletableFuture<Void> worked = new CompletableFuture<>();
                        try (Candidacy candidacy = election(me)
                                .runWhileLeader(
                                        leadership -> {
                                            me.hold(leadership);
                                            worked.complete(null);
                                        },
                                        RecipeAccess.session(me.coordinator()).listenerExecutor())) {
                            me.await(worked);
                        }
                    });
                    run.untilAtRest();
                    campaigning(run, "next");
                })
                .requestsAtMost(8, 40) // it begins again, and again
                .verify();
    }
}
