package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import java.time.Duration;

/** The first lock: no server to install, ten lines. */
public final class FirstLock {
    private FirstLock() {}

    /** Takes a lock in an embedded server, and shows its token. */
    public static void main(String[] arguments) throws InterruptedException {
        try (Coordinator coordinator = Coordinator.connect("embedded:")) {
            DistributedLock lock = DistributedLock.at(coordinator, "/locks/orders");
            try (LockGrant grant = lock.acquire(Duration.ofSeconds(5))) {
                System.out.println("Held for at least " + grant.remaining() + ", token " + grant.token());
            }
        }
    }
}
