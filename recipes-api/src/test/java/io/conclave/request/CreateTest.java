package io.conclave.request;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.node.Acl;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CreateTest {
    private static final Create PLAIN = Create.of(NodePath.of("/a"));
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @Test
    void aTimeToLiveChoosesTheModeAndStays() {
        assertEquals(CreateMode.PERSISTENT_WITH_TTL, PLAIN.withTtl(MINUTE).mode());
        Create sequential =
                PLAIN.withMode(CreateMode.PERSISTENT_SEQUENTIAL).withTtl(MINUTE).withTtl(Duration.ofMillis(7));
        assertEquals(CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL, sequential.mode());
        Create all = sequential.withData(new byte[1]).withAcl(Acl.OPEN).within(NodePath.of("/b"));
        assertEquals(Optional.of(Duration.ofMillis(7)), all.ttl());
        assertEquals(7, all.ttlMs());
        assertEquals(
                CreateMode.PERSISTENT_WITH_TTL,
                sequential.withMode(CreateMode.PERSISTENT_WITH_TTL).mode());
        assertEquals(0, PLAIN.ttlMs());
    }

    @Test
    void aTimeToLiveIsRoundedUpToMilliseconds() {
        assertEquals(1, PLAIN.withTtl(Duration.ofNanos(1)).ttlMs());
        assertEquals(2, PLAIN.withTtl(Duration.ofNanos(1_000_001)).ttlMs());
        assertEquals((1L << 40) - 1, PLAIN.withTtl(Create.MAX_TTL).ttlMs());
    }

    @Test
    void aTimeToLiveOutOfItsBoundsIsRefusedByName() {
        assertRefused(() -> PLAIN.withTtl(Duration.ZERO), "create /a", "PT0S", "1099511627775 ms");
        assertRefused(() -> PLAIN.withTtl(MINUTE.negated()), "PT-1M");
        assertRefused(() -> PLAIN.withTtl(Create.MAX_TTL.plusNanos(1)), "at most");
    }

    @Test
    void modeAndTimeToLiveFitEachOther() {
        assertRefused(() -> PLAIN.withMode(CreateMode.PERSISTENT_WITH_TTL), "create /a", "use withTtl");
        assertRefused(() -> PLAIN.withTtl(MINUTE).withMode(CreateMode.PERSISTENT), "PERSISTENT", "PT1M");
        assertRefused(() -> PLAIN.withMode(CreateMode.EPHEMERAL).withTtl(MINUTE), "EPHEMERAL");
        assertRefused(() -> PLAIN.withMode(CreateMode.CONTAINER).withTtl(MINUTE), "CONTAINER");
    }

    private static void assertRefused(Runnable call, String... parts) {
        String message = assertThrows(IllegalArgumentException.class, call::run).getMessage();
        for (String part : parts) {
            assertTrue(message.contains(part), message);
        }
    }
}
