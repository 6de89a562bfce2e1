package io.conclave.proofs.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The tables of docs/metrics.md.
 *
 * @param kinds each name, with each prefix where it has one, and whether it is a count or a duration
 * @param prefixes what the names of whatever is held begin with
 * @param suffixes what they end with, with the dot
 */
record MetricsTable(Map<String, Kind> kinds, Set<String> prefixes, Set<String> suffixes) {
    private static final Pattern ROW = Pattern.compile("\\| (`.+?`) \\| (count|duration) \\| .*");
    private static final Pattern NAME = Pattern.compile("`([^`]+)`");
    private static final String PREFIX = "<prefix>";

    /** What a name is told as. */
    enum Kind {
        COUNT,
        DURATION
    }

    static MetricsTable read() throws IOException {
        List<String> lines = Files.readAllLines(top().resolve("docs/metrics.md"));
        Map<String, Kind> rows = new TreeMap<>();
        for (String line : lines) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                names(row.group(1))
                        .forEach(
                                name -> rows.put(name, Kind.valueOf(row.group(2).toUpperCase(Locale.ROOT))));
            }
        }
        Set<String> prefixes = new TreeSet<>();
        for (int i = lines.indexOf("| prefix | what is held |") + 2;
                lines.get(i).startsWith("|");
                i++) {
            prefixes.addAll(names(lines.get(i)));
        }
        Map<String, Kind> kinds = new TreeMap<>();
        Set<String> suffixes = new TreeSet<>();
        rows.forEach((name, kind) -> {
            if (name.startsWith(PREFIX)) {
                suffixes.add(name.substring(PREFIX.length()));
                prefixes.forEach(prefix -> kinds.put(prefix + name.substring(PREFIX.length()), kind));
            } else {
                kinds.put(name, kind);
            }
        });
        return new MetricsTable(kinds, prefixes, suffixes);
    }

    /** The directory of the whole project. */
    static Path top() {
        Path top = Path.of("").toAbsolutePath();
        while (!Files.exists(top.resolve("docs/metrics.md"))) {
            top = top.getParent();
        }
        return top;
    }

    private static List<String> names(String cell) {
        List<String> names = new ArrayList<>();
        Matcher name = NAME.matcher(cell);
        while (name.find()) {
            names.add(name.group(1));
        }
        return names;
    }
}
