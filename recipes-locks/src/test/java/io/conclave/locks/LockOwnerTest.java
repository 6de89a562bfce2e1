package io.conclave.locks;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.SessionGoneException;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class LockOwnerTest {
    @Test
    void znodeOfAnotherSessionIsNeverAGrant() {
        try (Coordinator coordinator = Coordinator.connect("foreign-owner:" + UUID.randomUUID())) {
            DistributedLock lock = DistributedLock.at(coordinator, "/locks/owner");
            SessionGoneException refusal =
                    assertThrows(SessionGoneException.class, () -> lock.acquire(Duration.ofSeconds(10)));
            assertTrue(refusal.getMessage().contains("belongs to the session"), refusal::getMessage);
        }
    }
}
