package io.conclave.proofs.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import org.junit.jupiter.api.Test;

/**
 * The public API is what {@code docs/api} says, so that a change of it shows in the diff.
 *
 * <p>{@code scripts/accept-api} writes the files anew; {@code scripts/api-diff} compares with an earlier commit's jars.
 */
class PublicApiTest {
    /** The system property that has the files written instead of compared. */
    private static final String ACCEPT = "conclave.api.accept";

    private static final Path FILES = Path.of("..", "docs", "api");

    @Test
    void everyChangeOfThePublicApiIsWrittenDown() throws IOException {
        SortedMap<String, String> modules = PublicApi.read();
        assertTrue(modules.size() >= 8, "too few modules were read to prove anything: " + modules.keySet());
        List<String> differences = new ArrayList<>();
        for (Map.Entry<String, String> module : modules.entrySet()) {
            Path file = FILES.resolve(module.getKey() + ".txt");
            if (Boolean.getBoolean(ACCEPT)) {
                Files.createDirectories(FILES);
                Files.writeString(file, module.getValue());
            }
            String accepted = Files.exists(file) ? Files.readString(file) : "";
            differences.addAll(difference(module.getKey(), accepted, module.getValue()));
        }
        assertTrue(
                differences.isEmpty(),
                () -> "The public API differs from docs/api. If it is meant to, run scripts/accept-api and commit"
                        + " the files.\n" + String.join("\n", differences));
    }

    @Test
    void aDifferenceNamesTheModuleAndTheLine() {
        assertEquals(List.of("m: - b", "m: + c"), difference("m", "a\nb\n", "a\nc\n"));
    }

    private static List<String> difference(String module, String accepted, String present) {
        Set<String> before = new LinkedHashSet<>(accepted.lines().toList());
        Set<String> now = new LinkedHashSet<>(present.lines().toList());
        List<String> lines = new ArrayList<>();
        before.stream().filter(line -> !now.contains(line)).forEach(line -> lines.add(module + ": - " + line));
        now.stream().filter(line -> !before.contains(line)).forEach(line -> lines.add(module + ": + " + line));
        return lines;
    }
}
