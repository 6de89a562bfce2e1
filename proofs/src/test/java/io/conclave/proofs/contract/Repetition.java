package io.conclave.proofs.contract;

import static org.junit.platform.engine.discovery.ClassNameFilter.includeClassNamePatterns;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectPackage;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.slf4j.LoggerFactory;

/**
 * Runs the contracts of the recipes again and again in one JVM and on the same servers, until a pass is not wholly
 * green: {@code scripts/contracts} starts it.
 *
 * <p>Most of a pass is waiting for sessions to expire. So several tests run at once, also of one class unless leaders
 * are killed, and every test under a chroot of its own.
 *
 * <p>A pass is green if every test that was found was run and succeeded, and if as many were found as in the first
 * pass. So a pattern that matches nothing and a skipped test are failures too; only what {@link OwnRequests} gives up
 * is not. Its report goes to standard error for a person that watches, and to standard output, where the log is.
 */
public final class Repetition {
    private static final String CONTRACTS = ".*\\.(\\w+ContractIT|Memory\\w+ContractTest)";

    private final Launcher launcher = LauncherFactory.create();
    private final LauncherDiscoveryRequest request;
    private final int times;
    private final StallMeter stalls = new StallMeter();
    private long expectedTests;

    private Repetition(int times, String pattern, int atOnce) {
        String testsAtOnce = Integer.toString(atOnce);
        this.times = times;
        this.request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectPackage("io.conclave"))
                .filters(includeClassNamePatterns(CONTRACTS), new ContractPattern(pattern), longOnes(pattern))
                .configurationParameter("junit.jupiter.execution.timeout.default", "120 s")
                .configurationParameter("junit.jupiter.execution.timeout.threaddump.enabled", "true")
                .configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
                .configurationParameter("junit.jupiter.execution.parallel.mode.default", "same_thread")
                .configurationParameter("junit.jupiter.execution.parallel.mode.classes.default", "concurrent")
                .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
                .configurationParameter("junit.jupiter.execution.parallel.config.fixed.parallelism", testsAtOnce)
                .configurationParameter("junit.jupiter.execution.parallel.config.fixed.max-pool-size", testsAtOnce)
                .build();
    }

    /** What takes long is run only where the pattern says more than "everything". */
    private static PostDiscoveryFilter longOnes(String pattern) {
        return pattern.equals("*") ? TagFilter.excludeTags("long") : test -> FilterResult.included("asked for");
    }

    /**
     * Ends the JVM with 0 if every pass was green, else with 1.
     *
     * @param arguments how often; which contracts, see {@link ContractPattern}; how many tests at once
     */
    public static void main(String[] arguments) {
        if (arguments.length != 3) {
            throw new IllegalArgumentException("how often, a pattern of contracts, how many tests at once");
        }
        int times = numberOf("how often", arguments[0]);
        int testsAtOnce = numberOf("how many tests at once", arguments[2]);
        LoggerFactory.getILoggerFactory(); // here, before the classes do it all at once
        boolean green = new Repetition(times, arguments[1], testsAtOnce).run();
        System.exit(green ? 0 : 1); // the servers have threads that would keep the JVM
    }

    private static int numberOf(String what, String text) {
        if (!text.matches("[1-9]\\d{0,6}")) {
            throw new IllegalArgumentException(what + " must be a number from 1 on: " + text);
        }
        return Integer.parseInt(text);
    }

    private boolean run() {
        Instant start = Instant.now();
        for (int pass = 1; pass <= times; pass++) {
            if (!pass(pass)) {
                return false;
            }
        }
        report("%d passes of %d tests: green, %d s", times, expectedTests, secondsSince(start));
        return true;
    }

    private boolean pass(int number) {
        Instant start = Instant.now();
        TestPlan plan = launcher.discover(request);
        PassResult result = new PassResult();
        launcher.execute(plan, result);
        if (number == 1) {
            expectedTests = result.found();
            result.testsByClass().forEach((name, tests) -> report("  %-40s %3d tests", name, tests));
        }
        List<String> problems = result.problems(expectedTests);
        problems.forEach(problem -> report("%s", problem));
        report(
                "pass %d of %d: %s, %d tests%s, %d s, %d threads, stalled for %d ms at worst",
                number,
                times,
                problems.isEmpty() ? "green" : "FAILED",
                result.succeeded(),
                result.givenUp() == 0 ? "" : " and " + result.givenUp() + " given up",
                secondsSince(start),
                Thread.activeCount(),
                stalls.longestMs());
        return problems.isEmpty();
    }

    private static long secondsSince(Instant start) {
        return Duration.between(start, Instant.now()).toSeconds();
    }

    private static void report(String format, Object... arguments) {
        String line = String.format(format, arguments);
        System.out.println(line);
        System.err.println(line);
    }
}
