package application;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.junit.ConclaveFaults;
import io.conclave.junit.ConclaveTest;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import org.junit.jupiter.api.Test;

class OrdersTest {
    @Test
    @ConclaveTest
    void lockGoesToTheNextWhenItsHolderDies(Coordinator holder, Coordinator next, ConclaveFaults faults)
            throws Exception {
        LockGrant held = DistributedLock.at(holder, "/locks/orders").acquire();
        faults.endSession(holder);
        try (LockGrant second = DistributedLock.at(next, "/locks/orders").acquire()) {
            assertTrue(second.isHeld());
        }
    }
}
