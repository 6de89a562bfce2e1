package io.conclave.consensus.core;

/** Seeds of {@link SimulatedCluster} outside of a test: {@code CoreSimulationRun FIRST COUNT [MISTAKE]}. */
final class CoreSimulationRun {
    private CoreSimulationRun() {}

    public static void main(String[] arguments) {
        long first = Long.parseLong(arguments[0]);
        long count = Long.parseLong(arguments[1]);
        Mistake mistake = arguments.length > 2 ? Mistake.valueOf(arguments[2]) : Mistake.NONE;
        int failures = 0;
        long batches = 0;
        for (long seed = first; seed < first + count; seed++) {
            SimulatedCluster cluster = new SimulatedCluster(seed, mistake);
            try {
                cluster.run();
            } catch (RuntimeException | AssertionError e) {
                failures++;
                if (mistake != Mistake.NONE && failures > 3) {
                    return;
                }
                System.out.println(mistake + " seed " + seed + " at " + cluster.nowMs + " ms: " + e + " "
                        + (e instanceof AssertionError ? "" : e.getStackTrace()[0] + " " + e.getStackTrace()[1]));
            }
            batches += cluster.invariants.committed.size();
            if (seed % 500 == 0) {
                System.out.println("seed " + seed);
            }
        }
        System.out.println(mistake + ": " + count + " seeds, " + batches + " batches, " + failures + " failures");
    }
}
