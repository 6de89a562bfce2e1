package io.conclave.proofs.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How many bytes a lock adds to an application: below 5 MB with the server embedded, below 4 MB with the client. */
@Tag("default")
class UserSizeIT {
    private static final long LIMIT_OF_EMBEDDED = 5_000_000;
    private static final long LIMIT_OF_CLIENT = 4_000_000;

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
