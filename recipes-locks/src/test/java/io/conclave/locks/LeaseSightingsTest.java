package io.conclave.locks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.node.NodePath;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a process keeps of the leases that it has seen, and for how many resources. */
class LeaseSightingsTest {
    private static final Map<String, Long> LEASE = Map.of("lease", 7L);

    private final LeaseSightings sightings = new LeaseSightings();

    private static NodePath resource(int number) {
        return NodePath.of("/leases/job-" + number);
    }

    private long seenSince(int number, long nowNanos) {
        return sightings.saw(resource(number), 1, LEASE, nowNanos).get("lease");
    }

    @Test
    void leaseThatIsAsItWasCountsFromTheFirstLook() {
        assertEquals(5, seenSince(0, 5));
        assertEquals(5, seenSince(0, 9));
        assertEquals(
                Map.of("lease", 12L),
                sightings.saw(resource(0), 1, Map.of("lease", 8L), 12),
                "it was extended meanwhile");
    }

    @Test
    void leaseOfAStoreThatWentBackInTimeCountsAnew() {
        assertEquals(5, seenSince(0, 5));
        assertEquals(Map.of("lease", 9L), sightings.saw(resource(0), 2, LEASE, 9), "its extension may be undone");
    }

    @Test
    void resourcesWhoseLeasesNobodyLooksAtAnyMoreAreForgotten() {
        for (int number = 0; number <= LeaseSightings.MOST; number++) {
            seenSince(number, 1);
            assertEquals(1, seenSince(0, 2), "what is looked at stays");
        }
        assertEquals(3, seenSince(1, 3));
        assertEquals(1, seenSince(LeaseSightings.MOST, 4));
    }
}
