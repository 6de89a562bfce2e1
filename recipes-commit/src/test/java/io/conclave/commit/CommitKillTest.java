package io.conclave.commit;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Kills each role of a transaction at each of its requests, once before the request is executed and once after it: the
 * process is never heard again, its session expires, and another process takes its place. Never one site commits and
 * another aborts; in the end everybody has finished, and nothing is left.
 */
@Timeout(value = 300, unit = SECONDS)
class CommitKillTest {
    private static final String PATH = "/transfers";
    private static final List<String> SITES = List.of("a", "b");
    private static final String INITIATOR = "initiator";
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int ROUNDS_BEFORE_EXPIRY = 5;

    /**
     * The death of a process.
     *
     * @param victim the process that is killed
     * @param index at which of its requests
     * @param isAfter whether the request is still executed
     */
    private record Kill(String victim, int index, boolean isAfter) {
        @Override
        public String toString() {
            return victim + " killed " + (isAfter ? "after" : "before") + " request " + index;
        }
    }

    /** One transaction in which processes are killed. */
    private static final class Run implements AutoCloseable {
        private final String store = "kill-" + UUID.randomUUID();
        private final ManualTimeSource time = new ManualTimeSource();
        private final Propagation propagation;
        private final Map<String, Ledger> ledgers = new HashMap<>();
        private final Map<String, Coordinator> processes = new HashMap<>();
        private final Map<Long, String> roles = new HashMap<>(); // by session
        private final Map<String, AtomicInteger> requests = new HashMap<>();
        private final Set<String> killed = ConcurrentHashMap.newKeySet();
        private final Set<String> buried = new HashSet<>();
        private final CompletableFuture<io.conclave.commit.Decision> decided = new CompletableFuture<>();
        private int roundsSinceBurial;

        Run(Propagation propagation, boolean isWilling, List<Kill> kills) {
            this.propagation = propagation;
            start(INITIATOR);
            for (String site : SITES) {
                boolean votesFor = isWilling || site.equals("a");
                ledgers.put(site, new Ledger(site, id -> votesFor));
                start(site);
            }
            processes.forEach(
                    (role, process) -> roles.put(RecipeAccess.session(process).id(), role));
            MemoryStore.named(store).faults().intercept((session, request, number) -> onRequest(kills, session));
        }

        private void start(String role) {
            requests.put(role, new AtomicInteger());
            processes.put(role, connect());
        }

        private RequestFate onRequest(List<Kill> kills, long session) {
            String role = roles.get(session);
            if (role == null) {
                return RequestFate.PROCEED; // a successor
            }
            int index = requests.get(role).getAndIncrement();
            for (Kill kill : kills) {
                if (kill.victim().equals(role) && kill.index() == index) {
                    killed.add(role);
                    MemoryStore.named(store).faults().reconnectAfter(Duration.ofDays(10)); // no one hears of it again
                    return kill.isAfter() ? RequestFate.DROP_AFTER : RequestFate.DROP_BEFORE;
                }
            }
            return RequestFate.PROCEED;
        }

        private Coordinator connect() {
            return Coordinator.builder("memory:" + store)
                    .timeSource(time)
                    .sessionTimeout(Duration.ofSeconds(10))
                    .connect();
        }

        private TwoPhaseCommit transfers(Coordinator coordinator) {
            return TwoPhaseCommit.at(coordinator, PATH)
                    .withPropagation(propagation)
                    .withVoteTimeout(Duration.ofHours(1));
        }

        private void join(String site) {
            transfers(processes.get(site)).join(site, ledgers.get(site).participant());
        }

        /** Whether a process was killed. */
        boolean play() throws Exception {
            SITES.forEach(this::join);
            transfers(processes.get(INITIATOR))
                    .commitAsync("t1", new byte[0], SITES)
                    .thenAccept(decided::complete);
            await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> {
                for (String victim : List.copyOf(killed)) {
                    if (buried.add(victim)) {
                        bury(victim);
                    }
                }
                if (!killed.isEmpty()) {
                    time.advance(Duration.ofMillis(200));
                    expireTheDead();
                }
                if (buried.contains(INITIATOR)) {
                    transfers(processes.get(INITIATOR)).recover();
                }
                return isFinished();
            });
            return !killed.isEmpty();
        }

        /** The process is gone: nothing of it runs any more, and another takes its place. */
        private void bury(String victim) {
            processes.get(victim).close();
            roundsSinceBurial = 0;
            processes.put(victim, connect());
            if (ledgers.containsKey(victim)) {
                join(victim);
            }
        }

        /** The others have met the sessions of the dead alive for some rounds: now they expire. */
        private void expireTheDead() {
            if (roundsSinceBurial++ == ROUNDS_BEFORE_EXPIRY) {
                roles.forEach((session, role) -> {
                    if (buried.contains(role)) {
                        MemoryStore.named(store).faults().expire(session);
                    }
                });
            }
        }

        private boolean isFinished() {
            boolean isBegun = requests.get(INITIATOR).get() > 0;
            boolean isDecided = decided.isDone() || buried.contains(INITIATOR);
            return isBegun && isDecided && killed.equals(buried) && left().isEmpty();
        }

        private List<NodePath> left() {
            return MemoryStore.named(store).snapshot().keySet().stream()
                    .filter(path -> path.toString().matches(PATH + "/(transactions|sites/[^/]*)/.*"))
                    .toList();
        }

        void check(String what) {
            List<Optional<Boolean>> outcomes =
                    SITES.stream().map(site -> ledgers.get(site).outcome("t1")).toList();
            assertEquals(1, outcomes.stream().distinct().count(), () -> what + ": not atomic: " + ledgers);
            if (decided.isDone()) {
                assertEquals(Optional.of(decided.join().isCommit()), outcomes.get(0), () -> what + ": " + ledgers);
            }
            ledgers.values().forEach(ledger -> assertEquals(List.of(), ledger.violations(), what));
        }

        @Override
        public void close() {
            MemoryStore.named(store).faults().clear();
            processes.values().forEach(Coordinator::close);
            MemoryStore.forget(store);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "initiator,THROUGH_COORDINATOR,true",
        "initiator,EVERYONE_WATCHES,false",
        "b,THROUGH_COORDINATOR,false",
        "b,EVERYONE_WATCHES,true"
    })
    void killedAtEveryRequestBeforeAndAfterIt(String victim, Propagation propagation, boolean isWilling)
            throws Exception {
        killAtEveryRequest(victim, propagation, isWilling);
    }

    @ParameterizedTest
    @CsvSource({
        "initiator,THROUGH_COORDINATOR,false",
        "initiator,EVERYONE_WATCHES,true",
        "b,THROUGH_COORDINATOR,true",
        "b,EVERYONE_WATCHES,false"
    })
    @Tag("proof")
    void killedAtEveryRequestWithTheOtherPropagation(String victim, Propagation propagation, boolean isWilling)
            throws Exception {
        killAtEveryRequest(victim, propagation, isWilling);
    }

    private static void killAtEveryRequest(String victim, Propagation propagation, boolean isWilling) throws Exception {
        int kills = 0;
        int commits = 0;
        boolean wasKilled = true;
        for (int index = 0; wasKilled; index++) {
            wasKilled = false;
            for (boolean isAfter : new boolean[] {false, true}) {
                Result result = play(propagation, isWilling, List.of(new Kill(victim, index, isAfter)));
                wasKilled |= result.wasKilled;
                kills += result.wasKilled ? 1 : 0;
                commits += result.isCommit ? 1 : 0;
            }
        }
        assertTrue(kills > 10, "kills: " + kills);
        System.out.println("two-phase commit, " + victim + (isWilling ? "" : ", one against") + ", " + propagation
                + ": killed " + kills + " times, committed in " + commits + " runs, atomic in all");
    }

    private record Result(boolean wasKilled, boolean isCommit) {}

    private static Result play(Propagation propagation, boolean isWilling, List<Kill> kills) throws Exception {
        try (Run run = new Run(propagation, isWilling, kills)) {
            boolean wasKilled = run.play();
            run.check(propagation + ", " + kills);
            return new Result(
                    wasKilled,
                    run.ledgers
                            .get("a")
                            .outcome("t1")
                            .filter(committed -> committed)
                            .isPresent());
        } catch (ConditionTimeoutException e) {
            throw new AssertionError(propagation + ", " + kills + ": does not end", e);
        }
    }

    @ParameterizedTest
    @EnumSource(Propagation.class)
    void severalKilledAtRandom(Propagation propagation) throws Exception {
        long seed =
                Long.getLong("conclave.kills.seed", ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE));
        int runs = Integer.getInteger("conclave.kills.runs", 25);
        System.out.println("two-phase commit, several killed, " + propagation + ", " + runs + " runs, seed " + seed);
        Random random = new Random(seed);
        for (int run = 0; run < runs; run++) {
            List<Kill> kills = new ArrayList<>();
            for (String victim : List.of(INITIATOR, "a", "b")) {
                if (random.nextInt(4) > 0) {
                    kills.add(new Kill(victim, random.nextInt(18), random.nextBoolean()));
                }
            }
            play(propagation, random.nextInt(5) > 0, kills);
        }
    }
}
