package io.conclave.proofs.faults;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What a newcomer tries first: two coordinators of one JVM, and one lock. */
class FirstExperimentTest {
    @Test
    void twoCoordinatorsOnTheEmbeddedServerExcludeEachOther() throws Exception {
        try (Coordinator one = Coordinator.connect("embedded:");
                Coordinator other = Coordinator.connect("embedded:")) {
            try (LockGrant first = DistributedLock.at(one, "/locks/orders").acquire(Duration.ofSeconds(5))) {
                assertTrue(first.isHeld());
                assertTrue(
                        DistributedLock.at(other, "/locks/orders").tryAcquire().isEmpty());
            }
            assertTrue(DistributedLock.at(other, "/locks/orders").tryAcquire().isPresent());
        }
    }
}
