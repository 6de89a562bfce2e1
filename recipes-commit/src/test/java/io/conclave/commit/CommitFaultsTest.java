package io.conclave.commit;

import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusedException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.request.AddWatch;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Each fault at each request of a transaction's roles: never one site commits and another aborts, everybody finishes,
 * and nothing is left.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class CommitFaultsTest {
    private static final byte[] PAYLOAD = {4, 2};
    private static final String PATH = "/transfers";
    private static final List<String> SITES = List.of("a", "b", "c");
    /** Longer than every deadline and every session. */
    private static final Duration LONG = Duration.ofSeconds(60);

    /** What everybody has in one run. */
    private static final class Books {
        final FaultRun run;
        final List<Ledger> ledgers = new ArrayList<>();
        final CompletableFuture<Void> closing = new CompletableFuture<>();
        final AtomicInteger beginnings = new AtomicInteger();
        /** What a rival was answered that has run a transaction of the same id. */
        final AtomicReference<Optional<Decision>> decidedByRival = new AtomicReference<>(Optional.empty());

        /** Whether {@code commit} has ended. Only what is left is to be finished then, which takes less haste. */
        volatile boolean isAnswered;

        Books(FaultRun run, boolean lastIsWilling) {
            this.run = run;
            for (String site : SITES) {
                boolean willing = lastIsWilling || !site.equals("c");
                ledgers.add(new Ledger(site, id -> willing));
            }
        }

        /** Counts how often the transaction begins: it makes an entry in the inbox of each site. */
        void countBeginnings(Actor observer) throws InterruptedException {
            NodePath entry = NodePath.of(PATH + "/sites/a/t1");
            observer.coordinator().execute(new AddWatch(entry, false, event -> {
                if (event.type() == NodeEvent.Type.CREATED) {
                    beginnings.incrementAndGet();
                }
            }));
        }

        /** Recovers all the time, as a successor that takes every lost session for a death. */
        Actor.Body successor() {
            return me -> {
                while (!closing.isDone()) {
                    TwoPhaseCommit.at(me.coordinator(), PATH).recover();
                    run.pause(Duration.ofSeconds(isAnswered ? 5 : 1));
                }
            };
        }

        TwoPhaseCommit transfers(Actor actor, Propagation propagation) {
            return TwoPhaseCommit.at(actor.coordinator(), PATH).withPropagation(propagation);
        }

        /** Takes part until the end of the run. */
        Actor.Body site(int index) {
            Ledger ledger = ledgers.get(index);
            return me -> {
                try (Site site = TwoPhaseCommit.at(me.coordinator(), PATH).join(ledger.site(), ledger.participant())) {
                    me.await(closing.copy()); // an interrupt cancels what is waited for
                } catch (InterruptedException e) {
                    ledger.leave();
                    throw e;
                }
            };
        }

        /** All sites are helpers. */
        void startSites() {
            for (int site = 0; site < SITES.size(); site++) {
                run.helper(SITES.get(site)).start(site(site));
            }
        }

        /** Finishes once what a process that is away has left. */
        Actor.Body recovery() {
            return me -> TwoPhaseCommit.at(me.coordinator(), PATH).recover();
        }

        /** Runs a transaction of the same id if it can. */
        Actor.Body user() {
            return me -> {
                try {
                    Decision decision = transfers(me, Propagation.THROUGH_COORDINATOR)
                            .withVoteTimeout(Duration.ofSeconds(5))
                            .commit("t1", PAYLOAD, SITES);
                    if (decidedByRival.getAndSet(Optional.of(decision)).isPresent()) {
                        run.violated("two rivals have run it");
                    }
                } catch (RefusedException inUse) {
                    // The victim's has begun, or another rival's.
                }
            };
        }

        /** Another process of a site: it takes the place of the one before, and goes again. */
        Actor.Body substitute(int index) {
            Ledger ledger = ledgers.get(index);
            return me -> {
                ledger.share();
                try (Site site = TwoPhaseCommit.at(me.coordinator(), PATH).join(ledger.site(), ledger.participant())) {
                    run.pause(Duration.ofSeconds(3));
                }
            };
        }

        /** The victim's transaction. It has the id, or a rival has it: never both. */
        Actor.Body initiator(Propagation propagation, CompletableFuture<Decision> decided) {
            return me -> {
                try {
                    Decision decision = transfers(me, propagation).commit("t1", PAYLOAD, SITES);
                    if (decision.isCommit() && decidedByRival.get().isPresent()) {
                        run.violated("two have run it: the victim " + decision + ", a rival " + decidedByRival);
                    }
                    decided.complete(decision);
                } catch (RefusedException used) {
                    if (decidedByRival.get().isEmpty()) {
                        throw used;
                    }
                }
            };
        }

        /** Once everything has had its time. */
        void check(Optional<Decision> decision, boolean mayBeUnknown) {
            List<Optional<Boolean>> outcomes =
                    ledgers.stream().map(ledger -> ledger.outcome("t1")).toList();
            if (outcomes.stream().distinct().count() > 1) {
                run.violated("not atomic: " + ledgers);
            }
            decision.ifPresent(what -> {
                boolean neverBegan = !what.isCommit() && outcomes.get(0).isEmpty();
                if (!neverBegan && !outcomes.get(0).equals(Optional.of(what.isCommit()))) {
                    run.violated("decided was " + what + ", but: " + ledgers);
                }
            });
            if (beginnings.get() > 1) {
                run.violated("begun " + beginnings + " times");
            }
            if (!mayBeUnknown && outcomes.contains(Optional.<Boolean>empty())) {
                run.violated("not finished: " + ledgers);
            }
            ledgers.forEach(ledger -> ledger.violations().forEach(run::violated));
            if (!mayBeUnknown
                    && ledgers.stream().anyMatch(ledger -> !ledger.inDoubt().isEmpty())) {
                run.violated("prepared, and not told the decision: " + ledgers);
            }
            List<NodePath> left = run.store().snapshot().keySet().stream()
                    .filter(path -> path.toString().matches(PATH + "/(transactions|tickets|sites/[^/]*)/.*"))
                    .toList();
            if (!left.isEmpty()) {
                run.violated("left behind: " + left);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"THROUGH_COORDINATOR,true", "EVERYONE_WATCHES,false"})
    void transactionIsAtomicUnderEveryFaultOfItsInitiator(Propagation propagation, boolean isCommit) {
        initiatorIsTheVictim("commit, coordinating process, ", propagation, isCommit, false);
    }

    @ParameterizedTest
    @CsvSource({"THROUGH_COORDINATOR,false", "EVERYONE_WATCHES,true"})
    @Tag("proof")
    void transactionIsAtomicUnderEveryFaultOfItsInitiatorWithTheOtherPropagation(
            Propagation propagation, boolean isCommit) {
        initiatorIsTheVictim("commit, coordinating process, ", propagation, isCommit, false);
    }

    /** Cut off, suspended past its session or interrupted, it comes back to what others have finished. */
    @ParameterizedTest
    @CsvSource({"THROUGH_COORDINATOR,false", "EVERYONE_WATCHES,true"})
    void initiatorGetsTheTrueDecisionThoughASuccessorRecovers(Propagation propagation, boolean isCommit) {
        initiatorIsTheVictim("commit, initiator with a successor, ", propagation, isCommit, true);
    }

    @ParameterizedTest
    @CsvSource({"THROUGH_COORDINATOR,true", "EVERYONE_WATCHES,false"})
    @Tag("proof")
    void initiatorGetsTheTrueDecisionThoughASuccessorRecoversWithTheOtherPropagation(
            Propagation propagation, boolean isCommit) {
        initiatorIsTheVictim("commit, initiator with a successor, ", propagation, isCommit, true);
    }

    /** Another client deletes each record as soon as it is there: then the answer may be unknown, and never wrong. */
    @Test
    void transactionBeginsOnceThoughItsRecordIsDeleted() {
        FaultDriver.of("commit, initiator whose record is deleted", run -> {
                    Books books = new Books(run, true);
                    books.countBeginnings(run.helper("observer"));
                    books.startSites();
                    run.helper("successor").start(books.successor());
                    run.helper("operator").start(me -> {
                        while (!books.closing.isDone()) {
                            run.store().snapshot().keySet().stream()
                                    .filter(path -> path.toString().matches(PATH + "/records/../t1"))
                                    .forEach(path -> run.store().faults().deleteAsOperator(path));
                            run.pause(books.isAnswered ? Duration.ofSeconds(3) : Duration.ofMillis(300));
                        }
                    });
                    run.untilAtRest();
                    CompletableFuture<Decision> decided = new CompletableFuture<>();
                    run.victim()
                            .start(me -> decided.complete(books.transfers(me, Propagation.THROUGH_COORDINATOR)
                                    .commit("t1", PAYLOAD, SITES)));
                    run.victim().join();
                    books.isAnswered = true;
                    run.pause(LONG);
                    books.check(Optional.ofNullable(decided.getNow(null)), true);
                    books.closing.complete(null);
                })
                .within(Duration.ofMinutes(5))
                .requestsAtMost(6, 40)
                .leaving(path -> path.toString().startsWith(PATH + "/records/"))
                .explaining(OutcomeUnknownException.class, Fault.values())
                .pairs(20)
                .verify();
    }

    /** Another process has used the id and finished; the caller may not know so, and never runs it again. */
    @Test
    void usedIdNeverRunsAgain() {
        FaultDriver.of("commit, used id", run -> {
                    Books books = new Books(run, true);
                    books.countBeginnings(run.helper("observer"));
                    books.startSites();
                    run.untilAtRest();
                    Decision first = books.transfers(run.helper("first"), Propagation.THROUGH_COORDINATOR)
                            .commit("t1", PAYLOAD, SITES);
                    run.pause(Duration.ofSeconds(1));
                    run.rival("recovers", books.recovery());
                    run.victim().start(me -> {
                        books.transfers(me, Propagation.THROUGH_COORDINATOR).commit("t1", PAYLOAD, SITES);
                        run.violated("it was accepted");
                    });
                    run.victim().join();
                    run.pause(LONG);
                    books.check(Optional.of(first), false);
                    books.closing.complete(null);
                })
                .within(Duration.ofMinutes(5))
                .requestsAtMost(6, 40)
                .expecting(RefusedException.class)
                .explaining(OutcomeUnknownException.class, Fault.values())
                .also("0:EXPIRE_AFTER,1:PARTITION_BEFORE") // two tickets of lost sessions
                .pairs(20)
                .verify();
    }

    private static void initiatorIsTheVictim(
            String name, Propagation propagation, boolean isCommit, boolean withSuccessor) {
        FaultDriver.of(name + propagation + (isCommit ? "" : ", one against"), run -> {
                    Books books = new Books(run, isCommit);
                    books.countBeginnings(run.helper("observer"));
                    books.startSites();
                    if (withSuccessor) {
                        run.helper("successor").start(books.successor());
                    }
                    run.untilAtRest();
                    run.rival("recovers", books.recovery());
                    run.rival("uses the id if it can", books.user());
                    CompletableFuture<Decision> decided = new CompletableFuture<>();
                    run.victim().start(books.initiator(propagation, decided));
                    run.victim().join();
                    if (run.isClean() && decided.join().isCommit() != isCommit) {
                        run.violated("without a fault it was decided: " + decided.join());
                    }
                    books.isAnswered = true;
                    run.settle();
                    run.pause(LONG);
                    books.check(books.decidedByRival.get().or(() -> Optional.ofNullable(decided.getNow(null))), true);
                    books.closing.complete(null);
                })
                .within(Duration.ofMinutes(5))
                .requestsAtMost(6, 40)
                .also("10:STALL,12:PARTITION_AFTER") // the session is lost while it looks
                .pairs(20)
                .verify();
    }

    @ParameterizedTest
    @CsvSource({"THROUGH_COORDINATOR,true", "EVERYONE_WATCHES,false"})
    void transactionIsAtomicUnderEveryFaultOfASite(Propagation propagation, boolean isWilling) {
        siteIsTheVictim(propagation, isWilling);
    }

    @ParameterizedTest
    @CsvSource({"THROUGH_COORDINATOR,false", "EVERYONE_WATCHES,true"})
    @Tag("proof")
    void transactionIsAtomicUnderEveryFaultOfASiteWithTheOtherPropagation(Propagation propagation, boolean isWilling) {
        siteIsTheVictim(propagation, isWilling);
    }

    private static void siteIsTheVictim(Propagation propagation, boolean isWilling) {
        FaultDriver.of("commit, site, " + propagation + (isWilling ? "" : ", against"), run -> {
                    Books books = new Books(run, isWilling);
                    run.helper("a").start(books.site(0));
                    run.helper("b").start(books.site(1));
                    run.rival("recovers", books.recovery());
                    run.rival("takes its place", books.substitute(2));
                    run.victim().start(books.site(2));
                    books.countBeginnings(run.helper("observer"));
                    run.helper("successor").start(books.successor());
                    run.untilAtRest();
                    Actor initiator = run.helper("initiator");
                    Decision decision = books.transfers(initiator, propagation).commit("t1", PAYLOAD, SITES);
                    if (run.isClean() && decision.isCommit() != isWilling) {
                        run.violated("without a fault it was decided: " + decision);
                    }
                    books.isAnswered = true;
                    run.pause(LONG);
                    if (run.store().snapshot().containsKey(NodePath.of(PATH + "/sites/c/t1"))) {
                        run.helper("c again")
                                .start(books.site(2)); // the victim was interrupted, and takes no part any more
                        run.pause(LONG);
                    }
                    books.check(Optional.of(decision), false);
                    books.closing.complete(null);
                })
                .within(Duration.ofMinutes(6))
                .requestsAtMost(6, 40)
                .pairs(20)
                .verify();
    }

    @Test
    void recoveryIsAtomicUnderEveryFault() {
        FaultDriver.of("commit, recovery", run -> {
                    Books books = new Books(run, true);
                    Actor dead = run.helper("dead");
                    dead.start(me -> TwoPhaseCommit.at(me.coordinator(), PATH)
                            .withVoteTimeout(Duration.ofHours(1))
                            .commitAsync("t1", PAYLOAD, SITES));
                    run.untilAtRest();
                    run.store()
                            .faults()
                            .suspend(RecipeAccess.session(dead.coordinator()).id());
                    dead.start(me -> me.coordinator().close()); // no one hears of it
                    run.pause(Duration.ofSeconds(25));
                    run.rival("recovers", books.recovery());
                    run.rival("uses the id if it can", books.user());
                    run.victim().start(me -> TwoPhaseCommit.at(me.coordinator(), PATH)
                            .recover());
                    run.untilAtRest();
                    books.startSites();
                    run.victim().join();
                    run.pause(LONG);
                    TwoPhaseCommit.at(run.helper("successor").coordinator(), PATH)
                            .recover();
                    books.decidedByRival.get().ifPresent(again -> run.violated("begun again, and decided: " + again));
                    books.check(Optional.empty(), false);
                    books.closing.complete(null);
                })
                .within(Duration.ofMinutes(10))
                .requestsAtMost(6, 40)
                .pairs(20)
                .verify();
    }
}
