package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
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
}
