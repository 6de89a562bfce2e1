package io.conclave.benchmarks;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Prints the rounds of a comparison of libraries as they come, and at the end a table of medians and ratios in
 * Markdown.
 */
final class RecipeReport {
    private final PrintStream out;
    private final Map<String, Map<Library, List<Measurement>>> rounds = new LinkedHashMap<>();
    private final List<String> notes = new ArrayList<>();

    RecipeReport(PrintStream out) {
        this.out = out;
    }

    void round(String name, Library library, Measurement round) {
        rounds.computeIfAbsent(name, key -> new EnumMap<>(Library.class))
                .computeIfAbsent(library, key -> new ArrayList<>())
                .add(round);
        print(
                "%-28s %-10s %8.0f/s  p50 %8.3f ms  p99 %8.3f ms  server %7.1f us each",
                name, library.label(), round.operationsPerSecond(), round.p50Ms(), round.p99Ms(), round.serverMicros());
    }

    /** A round that came to no end. */
    void stuck(String name, Library library, BenchmarkException why) {
        String cause =
                why.getCause() == null ? why.getMessage() : why.getCause().getMessage();
        notes.add(String.format(Locale.ROOT, "%s: a round of %s came to no end: %s", name, library.label(), cause));
        print("%s", notes.get(notes.size() - 1));
    }

    void summary() {
        print("");
        print("| what | Conclave /s | p50 ms | p99 ms | server us | Curator /s | p50 ms | p99 ms | server us |"
                + " ratio of rates | ratio of p50 |");
        print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
        rounds.forEach((name, byLibrary) -> {
            Measurement ours = Measurement.median(byLibrary.getOrDefault(Library.CONCLAVE, List.of()));
            Measurement theirs = Measurement.median(byLibrary.getOrDefault(Library.CURATOR, List.of()));
            print(
                    "| %s | %,.0f | %.2f | %.2f | %.0f | %,.0f | %.2f | %.2f | %.0f | %.2f | %.2f |",
                    name,
                    ours.operationsPerSecond(),
                    ours.p50Ms(),
                    ours.p99Ms(),
                    ours.serverMicros(),
                    theirs.operationsPerSecond(),
                    theirs.p50Ms(),
                    theirs.p99Ms(),
                    theirs.serverMicros(),
                    ours.operationsPerSecond() / theirs.operationsPerSecond(),
                    theirs.p50Ms() / ours.p50Ms());
        });
        notes.forEach(note -> print("%s", note));
    }

    private void print(String format, Object... arguments) {
        out.println(String.format(Locale.ROOT, format, arguments));
    }
}
