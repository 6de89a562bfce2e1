package io.conclave.proofs.failover;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What was measured at one kind of end of leaders of one kind. */
final class Gaps {
    private final List<Double> ofLeadersClient = new ArrayList<>();
    private final List<Double> ofOtherClients = new ArrayList<>();
    private int otherClients;
    private int disconnected;

    void add(double leadersMs, List<Double> othersMs, int disconnectedOthers) {
        ofLeadersClient.add(leadersMs);
        ofOtherClients.add(
                othersMs.stream().mapToDouble(Double::doubleValue).max().orElse(0));
        otherClients += othersMs.size();
        disconnected += disconnectedOthers;
    }

    /** Of the longest gap that any client saw in each run. */
    double median() {
        return median(longest());
    }

    private List<Double> longest() {
        List<Double> longest = new ArrayList<>();
        for (int i = 0; i < ofLeadersClient.size(); i++) {
            longest.add(Math.max(ofLeadersClient.get(i), ofOtherClients.get(i)));
        }
        return longest;
    }

    /** A row of a table in Markdown, without its head. */
    String row() {
        return String.format(
                Locale.ROOT,
                "%.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %d of %d",
                median(),
                worst(longest()),
                median(ofLeadersClient),
                worst(ofLeadersClient),
                median(ofOtherClients),
                worst(ofOtherClients),
                disconnected,
                otherClients);
    }

    private static double worst(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).max().orElse(0);
    }

    private static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }
}
