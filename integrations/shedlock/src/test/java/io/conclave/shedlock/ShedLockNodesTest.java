package io.conclave.shedlock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.node.NodePath;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which names are locks of ShedLock's own provider, too, and that no two names are one lock. */
class ShedLockNodesTest {
    private static String nodeOf(String name) {
        return ShedLockNodes.of(NodePath.of("/shedlock"), name).record().name();
    }

    @Test
    void whatAZnodesNameCanHaveIsWrittenAsItIs() {
        for (String name :
                List.of("nightly report", "report 50%", "100 %", "50%-2", "Prüfung – 夜", "e\u0301", "a%2", "%")) {
            assertEquals(name, nodeOf(name));
        }
    }

    @Test
    void noTwoNamesAreOneLock() {
        List<String> parts = List.of("", "%", "/", "2", "F", "%2F", "%25", ".", "\u0000", "\ud83d\ude00");
        List<String> names = parts.stream()
                .flatMap(one -> parts.stream().flatMap(two -> parts.stream().map(three -> one + two + three)))
                .filter(name -> !name.isEmpty())
                .distinct()
                .toList();
        assertEquals(
                names.size(),
                names.stream()
                        .map(ShedLockNodesTest::nodeOf)
                        .collect(Collectors.toSet())
                        .size());
        assertEquals(
                List.of("%2E", "%2E%2E"),
                Stream.of(".", "..").map(ShedLockNodesTest::nodeOf).toList());
    }
}
