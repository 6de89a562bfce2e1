package io.conclave.testkit.driver;

import io.conclave.node.NodePath;
import io.conclave.testkit.Sample;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Repeats a recipe's run once for each of the victim's requests and each {@link Fault}, and with pairs of them at
 * random, and checks each run.
 *
 * <p>What it checks:
 *
 * <ul>
 *   <li>No ghost: once everybody is done, no ephemeral znode is left although the sessions live; once they are closed,
 *       nothing is left that a clean run does not leave.
 *   <li>No two holders, by token and time, of what the actors report as held; and an actor that reports at rest that it
 *       holds has a znode.
 *   <li>No lost wake-up: everybody is done within a bound of manual time.
 *   <li>The victim's calls fail only as the faults explain, its grants are lost only for such reasons, and an interrupt
 *       is never swallowed.
 *   <li>What the metrics hook is told to begin ends exactly once.
 *   <li>The victim's requests stay within a bound, relative to a clean run.
 * </ul>
 *
 * <p>One kind of fault takes the victim away while another process acts: see {@link FaultRun#rival}. A scenario that
 * names rivals is run with each of them at each request, cut off behind it and in one more way in turns, or in all ways
 * with {@value #ALL_ABSENCES} set to true or a mistake planted; and in all ways while everybody waits.
 *
 * <p>System properties: {@value #SEED} sets the seed of the random pairs, {@value #PAIRS} their number, and
 * {@value #ONLY} a {@link Plan} to which the driver then keeps, to repeat one run alone. Where a {@link Sample}
 * is asked for, it makes one in so many of the runs, others with each seed, unless a mistake is planted.
 *
 * <p>Not thread-safe; a driver can be verified once or often.
 */
public final class FaultDriver {
    /** The system property with the seed of the random pairs; a number. */
    public static final String SEED = "conclave.faults.seed";

    /** The system property with the number of random pairs. */
    public static final String PAIRS = "conclave.faults.pairs";

    /** The system property with the one plan to run. */
    public static final String ONLY = "conclave.faults.only";

    /** The system property that has every way to be away tried at every request with every rival, if it is true. */
    public static final String ALL_ABSENCES = "conclave.faults.absences";

    private static final int CLEAN_RUNS = 3;
    /** Behind the others, and in pairs only with {@value #PAIRS}, so that the numbers of those stay. */
    private static final List<Fault> LATER = List.of(Fault.LAG, Fault.PARTITION_LATE);

    private static final List<Fault> ALL_FAULTS =
            Arrays.stream(Fault.values()).filter(fault -> !fault.isAbsence()).toList();
    private static final List<Fault> FAULTS =
            ALL_FAULTS.stream().filter(fault -> !LATER.contains(fault)).toList();
    private static final List<Fault> ABSENCES = List.of(Fault.absences());
    private static final List<Fault> ABSENCES_AT_REQUESTS =
            ABSENCES.stream().filter(absence -> !absence.isAtRest()).toList();
    private static final TimeSource REAL = TimeSource.system();

    private final String name;
    private final Scenario scenario;
    private final Map<Class<? extends Throwable>, Set<Fault>> explanations = new HashMap<>();
    private final Set<Class<? extends Throwable>> expected = new LinkedHashSet<>();
    private @Nullable Scenario afterwards;
    private @Nullable Mistake mistake;
    private Predicate<NodePath> mayStay = path -> false;
    private Duration sessionTimeout = Duration.ofSeconds(10);
    private Duration holdTime = Duration.ofMillis(500);
    private Duration bound = Duration.ofMinutes(1);
    private boolean checksGhosts = true;
    private int permits = 1;
    private int pairs = 50;
    private final List<Plan> also = new ArrayList<>();
    private boolean triesAllAbsences = Boolean.getBoolean(ALL_ABSENCES);
    private double requestFactor = 4;
    private int requestExtra = 10;

    /** What one run needs to know. */
    record Settings(
            Duration sessionTimeout,
            Duration holdTime,
            Duration bound,
            boolean checksGhosts,
            int permits,
            int runawayRequests,
            Optional<Scenario> afterwards,
            Optional<Mistake> mistake,
            Map<Class<? extends Throwable>, Set<Fault>> explanations,
            Set<Class<? extends Throwable>> expected) {
        boolean isExpected(Throwable failure) {
            return expected.stream().anyMatch(type -> type.isInstance(failure));
        }

        boolean isExplained(Throwable failure, Set<Fault> struck) {
            return isExpected(failure)
                    || struck.stream().anyMatch(fault -> fault.explains(failure))
                    || explanations.entrySet().stream()
                            .anyMatch(entry -> entry.getKey().isInstance(failure)
                                    && entry.getValue().stream().anyMatch(struck::contains));
        }
    }

    /** What clean runs look like. */
    private record Baseline(int requests, Set<Integer> rests, List<String> rivals, Set<NodePath> left) {}

    private FaultDriver(String name, Scenario scenario) {
        this.name = name;
        this.scenario = scenario;
    }

    /** A driver of a recipe's run. */
    public static FaultDriver of(String name, Scenario scenario) {
        return new FaultDriver(Objects.requireNonNull(name, "name"), Objects.requireNonNull(scenario, "scenario"));
    }

    /** The victim's call fails with this in a clean run, and may in every other: a timeout that it asked for, say. */
    public FaultDriver expecting(Class<? extends Throwable> failure) {
        expected.add(failure);
        return this;
    }

    /**
     * The victim's call may also fail with this if one of the faults has struck: for a recipe that tells its caller of
     * an unknown outcome, say.
     */
    public FaultDriver explaining(Class<? extends Throwable> failure, Fault... by) {
        explanations.computeIfAbsent(failure, type -> new LinkedHashSet<>()).addAll(Arrays.asList(by));
        return this;
    }

    /**
     * How many permits there are, for actors that {@link Actor#hold(io.conclave.grant.Grant, int) hold permits}; 1 if
     * not set.
     */
    public FaultDriver permits(int number) {
        permits = number;
        return this;
    }

    /**
     * Within which manual time everybody must be done; a minute if not set. To be raised by the timeouts that the
     * scenario asks for.
     */
    public FaultDriver within(Duration manualTime) {
        bound = manualTime;
        return this;
    }

    /** How long {@link Actor#hold} holds; half a second of manual time if not set. Helpers hold half as long again. */
    public FaultDriver holding(Duration manualTime) {
        holdTime = manualTime;
        return this;
    }

    /** The timeout of all sessions; 10 seconds if not set. */
    public FaultDriver sessionTimeout(Duration timeout) {
        sessionTimeout = timeout;
        return this;
    }

    /**
     * The most requests that the victim may send with faults: a factor of those in a clean run, and some more. 4 and 10
     * if not set.
     */
    public FaultDriver requestsAtMost(double factor, int extra) {
        requestFactor = factor;
        requestExtra = extra;
        return this;
    }

    /** How many runs meet two faults at random; 50 if not set. */
    public FaultDriver pairs(int number) {
        pairs = number;
        return this;
    }

    /** Every way to be away is tried at every request with every rival, as with {@link #ALL_ABSENCES}. */
    public FaultDriver tryingAllAbsences() {
        triesAllAbsences = true;
        return this;
    }

    /**
     * A run with these faults too, written as {@link Plan} has it: one that chance has found, so that it is found
     * again.
     */
    public FaultDriver also(String faults) {
        also.add(Plan.parse(faults));
        return this;
    }

    /**
     * Which znodes may stay besides those that stay in a clean run; needed if what stays has a name of its own in every
     * run.
     */
    public FaultDriver leaving(Predicate<NodePath> path) {
        mayStay = path;
        return this;
    }

    /** The actors keep ephemeral znodes until their sessions are closed, as members of a group do. */
    public FaultDriver keepingZnodesUntilTheEnd() {
        checksGhosts = false;
        return this;
    }

    /**
     * A check of the recipe's own, after everybody is done and before the sessions are closed; it reports by
     * {@link FaultRun#violated} or by throwing. May block.
     */
    public FaultDriver afterwards(Scenario check) {
        afterwards = check;
        return this;
    }

    /**
     * Makes all the runs and prints a line about them. Blocks until they are done, or one has failed.
     *
     * @throws FaultFoundError if a run breaks a rule
     */
    public FaultReport verify() {
        ExecutorService pool = Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task, "fault-run");
            thread.setDaemon(true);
            return thread;
        });
        try {
            FaultReport report = verify(pool);
            System.out.println(report);
            return report;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(name + ": interrupted", e);
        } finally {
            pool.shutdown();
        }
    }

    /**
     * Plants a mistake into the victim's recipe and makes the runs that {@link #verify} makes, with every way to be
     * away, until one of them breaks a rule; prints a line about it. So it is seen that the scenario would notice such
     * a mistake. The random pairs are the same each time. Blocks.
     *
     * @return which rule, and in which run
     * @throws AssertionError if no run breaks a rule, or a run without a fault does
     */
    public FaultFoundError find(Mistake planted) {
        mistake = Objects.requireNonNull(planted, "planted");
        FaultReport report;
        try {
            report = verify();
        } catch (FaultFoundError found) {
            if (found.runs() == 0) {
                throw new AssertionError(name + ": the planted mistake shows without any fault", found);
            }
            System.out.println(name + ", with a mistake: found after " + found.runs() + " runs, with " + found.plan());
            return found;
        } finally {
            mistake = null;
        }
        throw new AssertionError(name + ": the planted mistake was not found in " + report.total() + " runs");
    }

    /**
     * As {@link #find(Mistake)}, and the broken rule must be the expected one.
     *
     * @param signs a part of its message, or several with {@code |} between them, of which one suffices
     * @throws AssertionError also if another rule is broken first
     */
    public void find(Mistake planted, String signs) {
        FaultFoundError found = find(planted);
        if (Arrays.stream(signs.split("\\|")).noneMatch(String.valueOf(found.getMessage())::contains)) {
            throw new AssertionError(name + ": expected the planted mistake to show as \"" + signs + '"', found);
        }
    }

    private FaultReport verify(ExecutorService pool) throws InterruptedException {
        long seed =
                Long.getLong(SEED, mistake == null ? ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE) : 1);
        long startNanos = REAL.monotonicNanos();
        Baseline baseline = cleanRuns(pool, seed);
        Map<String, Integer> runs = new LinkedHashMap<>();
        int idle = 0;
        int number = 0;
        for (Plan plan : plans(baseline, seed)) {
            FaultRun.Outcome outcome = new FaultRun(settings(baseline.requests), plan, pool).play(scenario);
            runs.merge(
                    plan.strikes().size() == 1 ? plan.strikes().get(0).fault().toString() : "PAIR", 1, Integer::sum);
            idle += outcome.injector().struck().isEmpty() ? 1 : 0;
            judge(outcome, plan, baseline, ++number, seed);
        }
        Duration lasted = Duration.ofNanos(REAL.monotonicNanos() - startNanos);
        return new FaultReport(name, baseline.requests, runs, idle, seed, lasted);
    }

    private Baseline cleanRuns(ExecutorService pool, long seed) throws InterruptedException {
        int requests = 0;
        Set<Integer> rests = new TreeSet<>();
        Set<String> rivals = new TreeSet<>();
        Set<NodePath> left = new TreeSet<>();
        for (int run = 0; run < CLEAN_RUNS; run++) {
            FaultRun.Outcome outcome = new FaultRun(settings(10_000), Plan.CLEAN, pool).play(scenario);
            requests = Math.max(requests, outcome.injector().requestCount());
            rests.addAll(outcome.rests());
            rivals.addAll(outcome.rivals());
            left.addAll(outcome.left());
            judge(outcome, Plan.CLEAN, new Baseline(requests, rests, List.copyOf(rivals), left), 0, seed);
        }
        return new Baseline(requests, rests, List.copyOf(rivals), left);
    }

    private List<Plan> plans(Baseline baseline, long seed) {
        String only = System.getProperty(ONLY);
        if (only != null) {
            return List.of(Plan.parse(only));
        }
        int oneIn = mistake == null ? Sample.oneIn() : 1;
        List<Plan> single = new ArrayList<>();
        for (int index = 0; index < baseline.requests; index++) {
            for (Fault fault : FAULTS) {
                if (!fault.isAtRest() || baseline.rests.contains(index)) {
                    single.add(Plan.of(index, fault));
                }
            }
        }
        single.addAll(absences(baseline));
        Random random = new Random(seed);
        if (oneIn > 1) {
            Collections.shuffle(single, random);
        }
        List<Plan> plans = new ArrayList<>(also);
        plans.addAll(single.subList(0, (single.size() + oneIn - 1) / oneIn));
        int count = Integer.getInteger(PAIRS, pairs / oneIn);
        for (int pair = 0; pair < count && baseline.requests > 0; pair++) {
            int first = random.nextInt(baseline.requests);
            int second = first + random.nextInt(baseline.requests - first + 4);
            plans.add(
                    new Plan(List.of(strike(random, first, baseline.rivals), strike(random, second, baseline.rivals))));
        }
        for (Fault fault : LATER) {
            for (int index = 0; index < baseline.requests; index++) {
                if (oneIn == 1 || random.nextInt(oneIn) == 0) {
                    plans.add(Plan.of(index, fault));
                }
            }
        }
        return plans;
    }

    /**
     * The victim is away at each of its requests while each rival acts. All of the ways to be away are too many for
     * every build: without {@link #ALL_ABSENCES} the reply is lost, and another way comes in turns. While everybody
     * waits, as when the victim holds something, it is away in each way that there is: such moments are few.
     */
    private List<Plan> absences(Baseline baseline) {
        List<Plan> plans = new ArrayList<>();
        int turn = 0;
        for (int index = 0; index < baseline.requests; index++) {
            for (String rival : baseline.rivals) {
                Fault inTurn = ABSENCES_AT_REQUESTS.get(turn++ % ABSENCES_AT_REQUESTS.size());
                for (Fault absence : ABSENCES) {
                    boolean isMeant = absence.isAtRest()
                            ? baseline.rests.contains(index)
                            : triesAllAbsences
                                    || mistake != null
                                    || absence == Fault.CUT_OFF_AFTER
                                    || absence == inTurn;
                    if (isMeant) {
                        plans.add(Plan.of(index, absence, rival));
                    }
                }
            }
        }
        return plans;
    }

    private static Plan.Strike strike(Random random, int index, List<String> rivals) {
        Duration reconnectDelay = Duration.ofMillis(random.nextBoolean() ? 0 : 500);
        if (!rivals.isEmpty() && random.nextInt(3) == 0) {
            Fault absence = ABSENCES.get(random.nextInt(ABSENCES.size()));
            return new Plan.Strike(index, absence, reconnectDelay, rivals.get(random.nextInt(rivals.size())));
        }
        List<Fault> faults = Integer.getInteger(PAIRS) == null ? FAULTS : ALL_FAULTS;
        return new Plan.Strike(index, faults.get(random.nextInt(faults.size())), reconnectDelay);
    }

    private Settings settings(int cleanRequests) {
        return new Settings(
                sessionTimeout,
                holdTime,
                bound,
                checksGhosts,
                permits,
                10 * most(cleanRequests),
                Optional.ofNullable(afterwards),
                Optional.ofNullable(mistake),
                explanations,
                expected);
    }

    private int most(int cleanRequests) {
        return (int) (requestFactor * cleanRequests) + requestExtra;
    }

    private void judge(FaultRun.Outcome outcome, Plan plan, Baseline baseline, int number, long seed) {
        List<String> violations = new ArrayList<>(outcome.violations());
        Throwable failure = outcome.victimFailure();
        if (number == 0 && !expected.isEmpty() && expected.stream().noneMatch(type -> type.isInstance(failure))) {
            violations.add("without a fault the victim's call ends with one of " + expected + ", but: " + failure);
        }
        List<NodePath> strays = outcome.left().stream()
                .filter(path -> !baseline.left.contains(path) && !mayStay.test(path))
                .toList();
        if (!strays.isEmpty()) {
            violations.add("left behind, and not by a clean run: " + strays);
        }
        int requests = outcome.injector().requestCount();
        if (requests > most(baseline.requests)) {
            violations.add("the victim sent " + requests + " requests, " + baseline.requests
                    + " in a clean run; allowed are " + most(baseline.requests));
        }
        if (!violations.isEmpty()) {
            FaultFoundError found =
                    new FaultFoundError(describe(outcome, plan, violations, number, seed), number, plan);
            outcome.causes().forEach(found::addSuppressed);
            throw found;
        }
    }

    private String describe(FaultRun.Outcome outcome, Plan plan, List<String> violations, int number, long seed) {
        Map<Integer, String> marks = new HashMap<>();
        plan.strikes()
                .forEach(strike -> marks.merge(
                        strike.index(),
                        strike.fault() + (strike.rival().isEmpty() ? "" : " while a rival " + strike.rival()),
                        (one, other) -> one + ", " + other));
        return name + ": run " + number + " with " + plan + " broke a rule\n  "
                + String.join("\n  ", violations)
                + "\n  the victim's requests:"
                + FaultRun.list(outcome.injector().requests(), marks)
                + "\n  faults with an effect: " + outcome.injector().struck()
                + (outcome.history().isEmpty() ? "" : "\n  exclusive grants:\n    " + outcome.history())
                + "\n  seed " + seed
                + (number == 0 ? "" : "; repeat this run alone with -D" + ONLY + "=" + plan);
    }
}
