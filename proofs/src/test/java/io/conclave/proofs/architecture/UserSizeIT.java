package io.conclave.proofs.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * How many bytes a lock adds to an application: below 5 MB with the server embedded, below 4 MB with the client. And
 * docs/versioning.md tells the size of each of our jars, and of those that they bring.
 */
@Tag("default")
class UserSizeIT {
    private static final long LIMIT_OF_EMBEDDED = 5_000_000;
    private static final long LIMIT_OF_CLIENT = 4_000_000;

    private static final Path PAGE = Path.of("../docs/versioning.md");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| (`[^|]+) \\|(?: \\|)? ([0-9.]+) (MB|kB) \\|");
    private static final Pattern NAME = Pattern.compile("`([a-z0-9-]+)`");

    private static final String NATIVE = "netty-transport-native-epoll";

    @Test
    void anEmbeddedLockStaysBelow5MB() {
        assertBelow(LIMIT_OF_EMBEDDED, UserClassPath.entries());
    }

    @Test
    void aLockOnServersStaysBelow4MB() {
        Stream<Path> shared =
                UserClassPath.entries().stream().filter(jar -> !nameOf(jar).matches("conclave-(server|consensus)-.*"));
        Stream<Path> nativeParts = UserClassPath.entriesOfTests().stream()
                .filter(jar -> nameOf(jar).startsWith(NATIVE));
        List<Path> jars = Stream.concat(shared, nativeParts).toList();
        assertEquals(
                List.of("linux-aarch_64", "linux-x86_64"),
                jars.stream()
                        .map(UserSizeIT::nameOf)
                        .filter(name -> name.startsWith(NATIVE))
                        .map(name -> name.replaceFirst(".*Final-(.*)\\.jar", "$1"))
                        .sorted()
                        .toList());
        assertBelow(LIMIT_OF_CLIENT, jars);
    }

    @Test
    void sizesOfThePageAreThoseOfTheJars() throws IOException {
        String page = Files.readString(PAGE);
        Set<String> untold = new TreeSet<>();
        for (Path jar : jarsOfTests().toList()) {
            String name = artifactOf(jar);
            boolean comesAlong = name.matches("conclave-.*|netty-.*|failsafe|slf4j-api");
            if (comesAlong && !page.contains("`" + name + "`")) {
                untold.add(name);
            }
        }
        assertEquals(Set.of(), untold);
        Map<String, String> different = new TreeMap<>();
        int rows = 0;
        for (MatchResult row : ROW.matcher(page).results().toList()) {
            rows++;
            boolean isLarge = row.group(3).equals("MB");
            double told = Double.parseDouble(row.group(2)) * (isLarge ? 1e6 : 1e3);
            long measured = NAME.matcher(row.group(1))
                    .results()
                    .mapToLong(name -> sizeOfArtifact(name.group(1)))
                    .sum();
            if (Math.abs(measured - told) > Math.max(told / 10, isLarge ? 10_000 : 2_000)) { // small changes may add up
                different.put(row.group(1), measured + " bytes");
            }
        }
        assertEquals(Map.of(), different);
        assertTrue(rows > 30, "the rows were not found");
    }

    private static long sizeOfArtifact(String artifact) {
        List<Path> jars =
                jarsOfTests().filter(jar -> artifactOf(jar).equals(artifact)).toList();
        assertFalse(jars.isEmpty(), artifact + " is no jar that comes along");
        return jars.stream().mapToLong(UserSizeIT::sizeOf).sum();
    }

    private static Stream<Path> jarsOfTests() {
        return UserClassPath.entriesOfTests().stream().filter(jar -> nameOf(jar).matches(".*(?<!-tests)\\.jar"));
    }

    private static String artifactOf(Path jar) {
        return nameOf(jar).replaceFirst("-\\d.*", "");
    }

    private static void assertBelow(long limit, List<Path> jars) {
        assertEquals(
                List.of(),
                jars.stream().filter(Files::isDirectory).toList(),
                "these are not jars yet; run this with mvn verify");
        long sum = jars.stream().mapToLong(UserSizeIT::sizeOf).sum();
        assertTrue(
                sum < limit,
                () -> "a user gets " + sum + " bytes, and " + limit + " are too many: "
                        + jars.stream()
                                .sorted(Comparator.comparingLong(UserSizeIT::sizeOf)
                                        .reversed())
                                .map(jar -> nameOf(jar) + " " + sizeOf(jar))
                                .collect(Collectors.joining(", ")));
    }

    private static String nameOf(Path jar) {
        return jar.getFileName().toString();
    }

    private static long sizeOf(Path jar) {
        try {
            return Files.size(jar);
        } catch (IOException e) {
            throw new UncheckedIOException(jar.toString(), e);
        }
    }
}
