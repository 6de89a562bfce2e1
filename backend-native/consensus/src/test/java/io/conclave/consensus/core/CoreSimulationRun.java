package io.conclave.consensus.core;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Seeds of {@link SimulatedCluster} outside of a test: {@code CoreSimulationRun FIRST COUNT [MISTAKE]}; or for each
 * planted mistake, how many of so many seeds show it and by what:
 * {@code CoreSimulationRun mistakes COUNT [MISTAKE...]}.
 */
final class CoreSimulationRun {
    private CoreSimulationRun() {}

    public static void main(String[] arguments) {
        if (arguments[0].equals("mistakes")) {
            for (Mistake mistake : Mistake.values()) {
                boolean asked = arguments.length == 2;
                for (int i = 2; i < arguments.length; i++) {
                    asked |= mistake.name().equals(arguments[i]);
                }
                if (asked && mistake != Mistake.NONE) {
                    count(mistake, Long.parseLong(arguments[1]));
                }
            }
            return;
        }
        Mistake mistake = arguments.length > 2 ? Mistake.valueOf(arguments[2]) : Mistake.NONE;
        run(Long.parseLong(arguments[0]), Long.parseLong(arguments[1]), mistake);
    }

    private static void run(long first, long count, Mistake mistake) {
        int failures = 0;
        long batches = 0;
        long mostEvents = 0;
        for (long seed = first; seed < first + count; seed++) {
            SimulatedCluster cluster = new SimulatedCluster(seed, mistake);
            Optional<Throwable> failure = cluster.failure();
            if (failure.isPresent()) {
                failures++;
                Throwable e = failure.get();
                System.out.println(mistake + " seed " + seed + " at " + cluster.nowMs + " ms: " + e + " "
                        + (e instanceof AssertionError ? "" : e.getStackTrace()[0] + " " + e.getStackTrace()[1]));
            }
            mostEvents = Math.max(mostEvents, cluster.eventCount);
            batches += cluster.invariants.committed.size();
            if (seed % 10_000 == 0) {
                System.out.println("seed " + seed);
            }
        }
        System.out.println(mistake + ": " + count + " seeds, " + batches + " batches, " + failures + " failures, "
                + mostEvents + " events at most");
    }

    private static void count(Mistake mistake, long seeds) {
        long first = 0;
        long found = 0;
        long began = System.nanoTime();
        Map<String, Integer> reasons = new TreeMap<>();
        for (long seed = 1; seed <= seeds; seed++) {
            Optional<Throwable> failure = new SimulatedCluster(seed, mistake).failure();
            if (failure.isPresent()) {
                found++;
                first = first == 0 ? seed : first;
                String message = String.valueOf(failure.get().getMessage());
                String reason = message.lines().findFirst().orElse("").replaceAll("[0-9]+", "#");
                reasons.merge(reason.substring(0, Math.min(90, reason.length())), 1, Integer::sum);
            }
        }
        System.out.printf(
                "%s: first with seed %d, %d of %d seeds, %.1f s%n",
                mistake, first, found, seeds, (System.nanoTime() - began) / 1e9);
        reasons.forEach((reason, count) -> System.out.println("    " + count + "  " + reason));
    }
}
