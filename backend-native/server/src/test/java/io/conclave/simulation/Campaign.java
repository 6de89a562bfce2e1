package io.conclave.simulation;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.LoggerFactory;

/** Many seeds, on some threads; each run has one to itself. */
final class Campaign {
    private final Map<String, Long> counts = new TreeMap<>();
    private final Map<String, Long> seedsWith = new TreeMap<>();
    private final List<String> violations = new ArrayList<>();
    private final long first;
    private final long wanted;
    private final Mistake mistake;
    private final long beganNanos = System.nanoTime();
    private final AtomicLong next;
    private long done;
    private long answers;
    private long commits;
    private long virtualMs;

    private Campaign(long first, long wanted, Mistake mistake) {
        this.first = first;
        this.wanted = wanted;
        this.mistake = mistake;
        this.next = new AtomicLong(first);
    }

    static Campaign run(long first, long seeds, Mistake mistake, int threads) {
        Level before = logger().getLevel();
        logger().setLevel(Level.OFF);
        Campaign campaign = new Campaign(first, seeds, mistake);
        try {
            List<Thread> helpers = new ArrayList<>();
            for (int i = 1; i < threads; i++) {
                Thread helper = new Thread(campaign::work, "simulation-" + i);
                helper.start();
                helpers.add(helper);
            }
            campaign.work();
            for (Thread helper : helpers) {
                helper.join();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            logger().setLevel(before);
        }
        return campaign;
    }

    /** The first seed that shows the mistake; empty if none of so many does. */
    static Optional<Simulation.Outcome> find(Mistake mistake, long seeds) {
        Level before = logger().getLevel();
        logger().setLevel(Level.OFF);
        try {
            for (long seed = 1; seed <= seeds; seed++) {
                Simulation.Outcome outcome = Simulation.run(seed, mistake);
                if (!outcome.isClean()) {
                    System.out.println(mistake + " is found with seed " + seed + ": "
                            + outcome.violation()
                                    .getMessage()
                                    .lines()
                                    .findFirst()
                                    .orElse(""));
                    return Optional.of(outcome);
                }
            }
            System.out.println(mistake + " is not found within " + seeds + " seeds");
            return Optional.empty();
        } finally {
            logger().setLevel(before);
        }
    }

    static Logger logger() {
        return (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    }

    private void work() {
        for (long seed = next.getAndIncrement(); seed < first + wanted; seed = next.getAndIncrement()) {
            add(Simulation.run(seed, mistake));
        }
    }

    private synchronized void add(Simulation.Outcome outcome) {
        outcome.trace().counts().forEach((what, count) -> {
            counts.merge(what, (long) count, Long::sum);
            seedsWith.merge(what, 1L, Long::sum);
        });
        answers += outcome.answers();
        commits += outcome.commits();
        virtualMs += outcome.virtualMs();
        done++;
        if (!outcome.isClean()) {
            String message = outcome.violation().getMessage();
            String line = "seed " + outcome.seed() + ": "
                    + message.lines().findFirst().orElse("");
            violations.add(line + "\n" + (violations.isEmpty() ? outcome.report() : ""));
            System.out.println("VIOLATION " + line);
        }
        if (done % Math.max(1, Math.min(250, wanted / 10)) == 0) {
            System.out.printf(
                    "%d seeds, %d violations, %.0f ms a seed%n",
                    done, violations.size(), (System.nanoTime() - beganNanos) / 1e6 / done);
        }
    }

    List<String> violations() {
        return violations;
    }

    Map<String, Long> counts() {
        return counts;
    }

    /** What was done, with the outcome and the trace of the first violation. */
    String report() {
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                "%d seeds from %d in %.0f s: %.0f s of virtual time, %d changes, %d answers, %d violations%n",
                done,
                first,
                (System.nanoTime() - beganNanos) / 1e9,
                virtualMs / 1e3,
                commits,
                answers,
                violations.size()));
        counts.forEach((what, count) ->
                text.append(String.format("%10d  in %5d seeds  %s%n", count, seedsWith.get(what), what)));
        violations.forEach(text::append);
        return text.toString();
    }
}
