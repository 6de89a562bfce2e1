package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import java.time.Duration;

/** The first lock, as the README has it: no server to install, ten lines. */
public final class FirstLock {
    private FirstLock() {}

    /** Takes a lock in an embedded server, and shows its token. */
    public static void main(String[] arguments) throws Exception {
        try (Coordinator coordinator = Coordinator.connect("embedded:")) {
            DistributedLock lock = DistributedLock.at(coordinator, "/locks/orders");
            lock.whileHeld(
                    Duration.ofSeconds(5),
                    grant -> System.out.println(
                            "Held for at least " + grant.remaining() + ", proven by token " + grant.token()));
        }
    }
}
