package io.conclave.commit;

import io.conclave.node.NodePath;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each fault at each request of a transaction's roles: never one site commits and another aborts, everybody finishes, and nothing is left. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class CommitFaultsTest {
    private static final String PATH = "/transfers";
    private static final List<String> SITES = List.of("a", "b", "c");
    /** Longer than every deadline and every session. */
    private static final Duration LONG = Duration.ofSeconds(60);

    /** What everybody has in one run. */
    private static final class Books {
        final FaultRun run;
        final List<Ledger> ledgers = new ArrayList<>();
        final CompletableFuture<Void> closing = new CompletableFuture<>();

        Books(FaultRun run, boolean lastIsWilling) {
            this.run = run;
            for (String site : SITES) {
                boolean willing = lastIsWilling || !site.equals("c");
                ledgers.add(new Ledger(site, id -> willing));
            }
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
                if (!outcomes.get(0).equals(Optional.of(what.isCommit()))) {
                    run.violated("decided was " + what + ", but: " + ledgers);
                }
            });
            if (!mayBeUnknown && outcomes.contains(Optional.<Boolean>empty())) {
                run.violated("not finished: " + ledgers);
            }
            ledgers.forEach(ledger -> ledger.violations().forEach(run::violated));
            List<NodePath> left = run.store().snapshot().keySet().stream()
                    .filter(path -> path.toString().matches(PATH + "/(transactions|sites/[^/]*)/.*"))
                    .toList();
            if (!left.isEmpty()) {
                run.violated("left behind: " + left);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "THROUGH_COORDINATOR,true",
        "THROUGH_COORDINATOR,false",
        "EVERYONE_WATCHES,true",
        "EVERYONE_WATCHES,false"
    })
    void transactionIsAtomicWhateverHappensToWhoBeganIt(Propagation propagation, boolean isCommit) {
        FaultDriver.of("commit, coordinating process, " + propagation + (isCommit ? "" : ", one against"), run -> {
                    Books books = new Books(run, isCommit);
                    for (int site = 0; site < SITES.size(); site++) {
                        run.helper(SITES.get(site)).start(books.site(site));
                    }
                    run.untilAtRest();
                    CompletableFuture<Decision> decided = new CompletableFuture<>();
                    run.victim().start(me -> {
                        decided.complete(books.transfers(me, propagation).commit("t1", new byte[0], SITES));
                        if (run.isClean() && decided.join().isCommit() != isCommit) {
                            run.violated("without a fault it was decided: " + decided.join());
                        }
                    });
                    run.victim().join();
                    run.pause(LONG);
                    books.check(Optional.ofNullable(decided.getNow(null)), true);
                    books.closing.complete(null);
                })
                .within(Duration.ofMinutes(5))
                .requestsAtMost(6, 40)
                .pairs(20)
                .verify();
    }

    @ParameterizedTest
    @CsvSource({
        "THROUGH_COORDINATOR,true",
        "THROUGH_COORDINATOR,false",
        "EVERYONE_WATCHES,true",
        "EVERYONE_WATCHES,false"
    })
    void transactionIsAtomicWhateverHappensToASite(Propagation propagation, boolean isWilling) {
        FaultDriver.of("commit, site, " + propagation + (isWilling ? "" : ", against"), run -> {
                    Books books = new Books(run, isWilling);
                    run.helper("a").start(books.site(0));
                    run.helper("b").start(books.site(1));
                    run.victim().start(books.site(2));
                    run.untilAtRest();
                    Actor initiator = run.helper("initiator");
                    Decision decision = books.transfers(initiator, propagation).commit("t1", new byte[0], SITES);
                    if (run.isClean() && decision.isCommit() != isWilling) {
                        run.violated("without a fault it was decided: " + decision);
                    }
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
    void recoveryIsAtomicWhateverHappensToIt() {
        FaultDriver.of("commit, recovery", run -> {
                    Books books = new Books(run, true);
                    Actor dead = run.helper("dead");
                    dead.start(me -> TwoPhaseCommit.at(me.coordinator(), PATH)
                            .withVoteTimeout(Duration.ofHours(1))
                            .commitAsync("t1", new byte[0], SITES));
                    run.untilAtRest();
                    run.store()
                            .faults()
                            .suspend(dead.coordinator().recipeSession().id());
                    dead.start(me -> me.coordinator().close()); // nobody hears of it
                    run.pause(Duration.ofSeconds(25));
                    run.victim().start(me -> TwoPhaseCommit.at(me.coordinator(), PATH)
                            .recover());
                    run.untilAtRest();
                    for (int site = 0; site < SITES.size(); site++) {
                        run.helper(SITES.get(site)).start(books.site(site));
                    }
                    run.victim().join();
                    run.pause(LONG);
                    TwoPhaseCommit.at(run.helper("successor").coordinator(), PATH)
                            .recover();
                    books.check(Optional.empty(), false);
                    books.closing.complete(null);
                })
                .within(Duration.ofMinutes(10))
                .requestsAtMost(6, 40)
                .pairs(20)
                .verify();
    }
}
