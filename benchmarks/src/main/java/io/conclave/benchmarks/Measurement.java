package io.conclave.benchmarks;

import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * What a round measured.
 *
 * @param operationsPerSecond completed per second
 * @param p50Ms the median latency in milliseconds
 * @param p99Ms the 99th percentile of latency in milliseconds
 * @param serverMicros processor time of the server per operation, in microseconds; tells more than the rate does when
 *     the machine is busy with other things
 */
record Measurement(double operationsPerSecond, double p50Ms, double p99Ms, double serverMicros) {
    /** The medians of several rounds, each figure by itself. */
    static Measurement median(List<Measurement> rounds) {
        return new Measurement(
                median(rounds, Measurement::operationsPerSecond),
                median(rounds, Measurement::p50Ms),
                median(rounds, Measurement::p99Ms),
                median(rounds, Measurement::serverMicros));
    }

    private static double median(List<Measurement> rounds, ToDoubleFunction<Measurement> figure) {
        List<Double> sorted = rounds.stream()
                .map(figure::applyAsDouble)
                .sorted(Comparator.naturalOrder())
                .toList();
        if (sorted.isEmpty()) {
            return Double.NaN; // not measured
        }
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }
}
