package io.conclave.proofs.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * What a user gets with locks and backend: slf4j-api, Failsafe and Netty come along, nothing else; and no package lies
 * in two jars.
 */
class UserClassPathTest {
    /** What comes along; of Netty neither HTTP nor native parts of TLS. */
    private static final List<String> WANTED = List.of(
            "/slf4j-api-",
            "/failsafe-",
            "/netty-buffer-",
            "/netty-codec-base-",
            "/netty-common-",
            "/netty-handler-",
            "/netty-resolver-",
            "/netty-transport-");

    private static final List<String> FOR_TESTS = List.of("io.conclave.ensemble", "io.conclave.testkit", "org.junit");

    @Test
    void nothingComesAlongButSlf4jFailsafeAndNetty() {
        List<String> strangers = UserClassPath.entries().stream()
                .map(entry -> entry.toString().replace('\\', '/'))
                .filter(entry -> WANTED.stream().noneMatch(entry::contains) && !isOurs(entry))
                .toList();
        assertEquals(List.of(), strangers);
    }

    private static boolean isOurs(String entry) {
        return entry.endsWith("/target/classes") || entry.matches(".*/conclave-[^/]*\\.jar");
    }

    @Test
    void theClassPathIsThatOfAUser() {
        List<Path> entries = UserClassPath.entries();
        assertTrue(entries.size() >= 10 && entries.size() <= 20, () -> entries.size() + " entries: " + entries);
    }

    @Test
    void noPackageLiesInTwoJars() {
        Map<String, Path> homes = new TreeMap<>();
        List<String> split = new ArrayList<>();
        for (Path entry : UserClassPath.entries()) {
            for (String name : UserClassPath.packages(entry)) {
                Path other = homes.putIfAbsent(name, entry);
                if (other != null) {
                    split.add(name + " lies in " + other + " and in " + entry);
                }
            }
        }
        assertEquals(List.of(), split);
        assertTrue(
                homes.containsKey("io.conclave.locks") && homes.containsKey("io.conclave.coordinator"),
                homes.keySet()::toString);
    }

    @Test
    void nothingForTestsComesAlong() {
        List<String> forTests = UserClassPath.entries().stream()
                .flatMap(entry -> UserClassPath.packages(entry).stream())
                .filter(name -> FOR_TESTS.stream().anyMatch(name::startsWith))
                .toList();
        assertEquals(List.of(), forTests);
    }
}
