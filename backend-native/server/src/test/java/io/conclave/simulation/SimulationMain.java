package io.conclave.simulation;

import java.util.Map;
import java.util.TreeMap;
import org.slf4j.LoggerFactory;

/**
 * Runs seeds from the command line: {@code [seeds] [first seed] [mistake]}, or one of them with everything that happens:
 * {@code trace seed [mistake]}.
 */
final class SimulationMain {
    private SimulationMain() {}

    public static void main(String[] arguments) {
        boolean tracing = arguments.length > 0 && arguments[0].equals("trace");
        quiet(System.getProperty("simulation.log", "OFF"));
        if (tracing) {
            Mistake mistake = arguments.length > 2 ? Mistake.valueOf(arguments[2]) : Mistake.NONE;
            Simulation.Outcome outcome = Simulation.run(Long.parseLong(arguments[1]), mistake, true);
            System.out.println("seed " + outcome.seed() + ", trace " + Long.toHexString(outcome.trace().hash()) + ": "
                    + (outcome.isClean() ? "clean" : outcome.violation()));
            if (!outcome.isClean()) {
                outcome.violation().printStackTrace(System.out);
            }
            return;
        }
        long seeds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 1000;
        long first = arguments.length > 1 ? Long.parseLong(arguments[1]) : 1;
        Mistake mistake = arguments.length > 2 ? Mistake.valueOf(arguments[2]) : Mistake.NONE;
        System.exit(run(seeds, first, mistake) ? 0 : 1);
    }

    static void quiet(String level) {
        ((ch.qos.logback.classic.Logger) LoggerFactory.getLogger("ROOT"))
                .setLevel(ch.qos.logback.classic.Level.valueOf(level));
    }

    private static boolean run(long seeds, long first, Mistake mistake) {
        Map<String, Long> counts = new TreeMap<>();
        long violations = 0;
        long answers = 0;
        long commits = 0;
        long virtualMs = 0;
        long began = System.nanoTime();
        for (long seed = first; seed < first + seeds; seed++) {
            Simulation.Outcome outcome = Simulation.run(seed, mistake);
            outcome.trace().counts().forEach((what, count) -> counts.merge(what, (long) count, Long::sum));
            answers += outcome.answers();
            commits += outcome.commits();
            virtualMs += outcome.virtualMs();
            if (!outcome.isClean()) {
                violations++;
                System.out.println("VIOLATION seed " + seed + ": "
                        + outcome.violation().getMessage().lines().findFirst().orElse(""));
                System.out.flush();
            }
            long done = seed - first + 1;
            if (done % Math.max(1, Math.min(1000, seeds / 10)) == 0) {
                System.out.printf(
                        "%d seeds, %d violations, %.0f ms a seed, %.0f s virtual, %d answers%n",
                        done, violations, (System.nanoTime() - began) / 1e6 / done, virtualMs / 1e3, answers);
            }
        }
        System.out.println("changes committed: " + commits);
        counts.forEach((what, count) -> System.out.printf("%10d  %s%n", count, what));
        return violations == 0;
    }
}
