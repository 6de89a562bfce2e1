package io.conclave.commit;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.request.AddWatch;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Suspends the initiator at each of its requests, once before the request is executed and once after it, for longer
 * than its session lives. Meanwhile a successor recovers until nothing is left. Then the initiator comes back with a
 * new session: the transaction has begun at most once, and {@code commit} tells what the sites were told.
 */
@Timeout(value = 300, unit = SECONDS)
class ComebackTest {
    private static final String PATH = "/transfers";
    private static final List<String> SITES = List.of("a", "b");
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration SESSION = Duration.ofSeconds(10);
    /** Of those whose time a test moves: their heartbeats may come late on a busy machine. */
    private static final Duration LONG_SESSION = Duration.ofHours(24);

    /** How far time moves between two recoveries of the successor: a few of them see the initiator's session live. */
    private static final Duration STEP = Duration.ofSeconds(2);

    private static final int ROUNDS_OF_THE_OTHERS = 3;

    /** One transaction whose initiator is suspended. */
    private static final class Run implements AutoCloseable {
        private final String store = "comeback-" + UUID.randomUUID();
        private final ManualTimeSource time = new ManualTimeSource();
        private final ManualTimeSource initiatorsTime = new ManualTimeSource(); // it stands while it is suspended
        private final Coordinator others = connect(time, LONG_SESSION);
        private final Coordinator initiator = connect(initiatorsTime, SESSION);
        private final long session = RecipeAccess.session(initiator).id();
        private final Propagation propagation;
        private final List<Ledger> ledgers;
        private final AtomicInteger requests = new AtomicInteger();
        private final AtomicInteger beginnings = new AtomicInteger();
        private volatile boolean isSuspended;

        Run(Propagation propagation, boolean isWilling, int index, boolean isAfter) throws InterruptedException {
            this.propagation = propagation;
            this.ledgers = List.of(Ledger.willing("a"), new Ledger("b", id -> isWilling));
            ledgers.forEach(ledger -> TwoPhaseCommit.at(others, PATH).join(ledger.site(), ledger.participant()));
            others.execute(new AddWatch(NodePath.of(PATH + "/sites/a/t1"), false, event -> {
                if (event.type() == NodeEvent.Type.CREATED) {
                    beginnings.incrementAndGet();
                }
            }));
            MemoryStore.named(store).faults().intercept((by, request, number) -> {
                if (by != session || requests.getAndIncrement() != index) {
                    return RequestFate.PROCEED;
                }
                isSuspended = true;
                MemoryStore.named(store).faults().reconnectAfter(Duration.ofDays(10)); // by its clock, which stands
                return isAfter ? RequestFate.DROP_AFTER : RequestFate.DROP_BEFORE;
            });
        }

        private Coordinator connect(ManualTimeSource clock, Duration sessionTimeout) {
            return Coordinator.builder("memory:" + store)
                    .timeSource(clock)
                    .sessionTimeout(sessionTimeout)
                    .connect();
        }

        /** What {@code commit} answers, if the initiator was suspended. */
        Optional<io.conclave.commit.Decision> play() {
            CompletableFuture<io.conclave.commit.Decision> stage = TwoPhaseCommit.at(initiator, PATH)
                    .withPropagation(propagation)
                    .withVoteTimeout(Duration.ofHours(1))
                    .commitAsync("t1", new byte[0], SITES);
            await().atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> isSuspended || (stage.isDone() && isNothingLeft()));
            if (isSuspended) {
                othersGoOn();
                comeBack();
            }
            await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> {
                time.advance(Duration.ofMillis(200));
                initiatorsTime.advance(Duration.ofMillis(200));
                return stage.isDone() && isNothingLeft();
            });
            return isSuspended ? Optional.of(stage.join()) : Optional.empty();
        }

        private void othersGoOn() {
            AtomicInteger rounds = new AtomicInteger();
            await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> {
                time.advance(STEP);
                TwoPhaseCommit.at(others, PATH).recover();
                boolean isExpired =
                        !MemoryStore.named(store).faults().liveSessions().contains(session);
                return isExpired
                        && left("(transactions|sites/[^/]*)").isEmpty()
                        && rounds.incrementAndGet() > ROUNDS_OF_THE_OTHERS;
            });
        }

        private void comeBack() {
            MemoryStore.named(store).faults().reconnectAfter(Duration.ZERO);
            initiatorsTime.advance(SESSION);
            await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> {
                initiatorsTime.advance(Duration.ofSeconds(1));
                long now = RecipeAccess.session(initiator).id();
                return now != 0 && now != session;
            });
        }

        private boolean isNothingLeft() {
            return left("(transactions|tickets|sites/[^/]*)").isEmpty();
        }

        private List<NodePath> left(String parents) {
            return MemoryStore.named(store).snapshot().keySet().stream()
                    .filter(path -> path.toString().matches(PATH + "/" + parents + "/.*"))
                    .toList();
        }

        void check(io.conclave.commit.Decision answer) {
            List<Optional<Boolean>> outcomes =
                    ledgers.stream().map(ledger -> ledger.outcome("t1")).toList();
            boolean neverBegan = beginnings.get() == 0;
            Optional<Boolean> expected = neverBegan ? Optional.empty() : Optional.of(answer.isCommit());
            assertEquals(List.of(expected, expected), outcomes, () -> answer + ", but " + ledgers);
            assertTrue(!neverBegan || !answer.isCommit(), () -> answer + ", but it never began");
            assertTrue(beginnings.get() <= 1, () -> "begun " + beginnings + " times");
            ledgers.forEach(ledger -> assertEquals(List.of(), ledger.violations()));
        }

        @Override
        public void close() {
            MemoryStore.named(store).faults().clear();
            initiator.close();
            others.close();
            MemoryStore.forget(store);
        }
    }

    @ParameterizedTest
    @CsvSource({"THROUGH_COORDINATOR,true", "EVERYONE_WATCHES,false"})
    void initiatorComesBackWithANewSessionAfterASuccessorHasRecovered(Propagation propagation, boolean isWilling)
            throws Exception {
        suspendAtEveryRequest(propagation, isWilling);
    }

    @ParameterizedTest
    @CsvSource({"THROUGH_COORDINATOR,false", "EVERYONE_WATCHES,true"})
    @Tag("proof")
    void initiatorComesBackWithTheOtherPropagation(Propagation propagation, boolean isWilling) throws Exception {
        suspendAtEveryRequest(propagation, isWilling);
    }

    private static void suspendAtEveryRequest(Propagation propagation, boolean isWilling) throws Exception {
        int suspended = 0;
        int commits = 0;
        boolean wasSuspended = true;
        for (int index = 0; wasSuspended; index++) {
            wasSuspended = false;
            for (boolean isAfter : new boolean[] {false, true}) {
                String what = (isAfter ? "after" : "before") + " request " + index;
                try (Run run = new Run(propagation, isWilling, index, isAfter)) {
                    Optional<io.conclave.commit.Decision> answer = run.play();
                    if (answer.isPresent()) {
                        run.check(answer.get());
                        wasSuspended = true;
                        suspended++;
                        commits += answer.get().isCommit() ? 1 : 0;
                    }
                } catch (ConditionTimeoutException e) {
                    throw new AssertionError("suspended " + what + ": does not end", e);
                } catch (AssertionError | RuntimeException e) {
                    throw new AssertionError("suspended " + what, e);
                }
            }
        }
        assertTrue(suspended > 10, "suspended: " + suspended);
        System.out.println("two-phase commit, initiator comes back" + (isWilling ? "" : ", one against") + ", "
                + propagation + ": suspended " + suspended + " times, committed in " + commits
                + " runs, told the truth in"
                + " all");
    }
}
