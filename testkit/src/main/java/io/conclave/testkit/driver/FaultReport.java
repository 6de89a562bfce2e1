package io.conclave.testkit.driver;

import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a driver did. Its text is one line.
 *
 * @param recipe the name that the driver was given
 * @param cleanRequests how many requests the victim sends without faults
 * @param runs how many runs were made, by fault; pairs under {@code PAIR}
 * @param idle in how many of them no fault had an effect, because there was nothing to delete, no call to interrupt, or
 *     fewer requests than in the clean run
 * @param seed what the random pairs came from
 * @param lasted how long all of it took, in real time
 */
public record FaultReport(
        String recipe, int cleanRequests, Map<String, Integer> runs, int idle, long seed, Duration lasted) {
    /** How many runs were made, all together. */
    public int total() {
        return runs.values().stream().mapToInt(Integer::intValue).sum();
    }

    @Override
    public String toString() {
        return recipe + ": " + cleanRequests + " requests in a clean run, " + total() + " runs with faults ("
                + runs.entrySet().stream()
                        .map(entry -> entry.getKey() + " " + entry.getValue())
                        .collect(Collectors.joining(", "))
                + "; " + idle + " without effect), seed " + seed + ", " + lasted.toMillis() + " ms";
    }
}
