package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.tree.Znode;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SessionIdsTest {
    @Test
    void sessionIdsOfOneServerAreUniqueAcrossItsRestarts() {
        Set<Long> seen = new HashSet<>();
        for (int start = 0; start < 100; start++) {
            SessionIds ids = new SessionIds(200);
            for (int i = 0; i < 100; i++) {
                long id = ids.nextId();
                assertEquals(200, id >>> 56);
                assertTrue(seen.add(id), Long.toHexString(id));
            }
        }
    }

    /** For server 255 these are 2^40 ids in a row. */
    @Test
    void idsThatStandForNodesWithATimeToLiveArePassedOver() {
        SessionIds ids = new SessionIds(255, new Random() {
            private long drawn;

            @Override
            public long nextLong() {
                return drawn++ << 40; // the first is among them
            }
        });
        for (int i = 0; i < 3; i++) {
            assertTrue(Znode.canBeSession(ids.nextId()));
        }
    }
}
