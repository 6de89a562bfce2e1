package io.conclave.proofs.interop;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.locks.LockLayout;
import io.conclave.locks.SharedLock;
import io.conclave.locks.WriteGrant;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * Our locks in kazoo's layout, on command from standard input: {@code mutex}, {@code read} and {@code write} acquire
 * within half a second, {@code downgrade} and {@code close} do that to what is held; each is answered by a line. For
 * {@code kazoo_lock_check.py}; run manually.
 */
final class LockByHand {
    private LockByHand() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (Coordinator coordinator = Coordinator.connect(arguments[0]);
                BufferedReader commands =
                        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            LockGrant held = null;
            for (String line = commands.readLine(); line != null; line = commands.readLine()) {
                try {
                    held = obey(coordinator, arguments[1], line, held);
                    System.out.println("ok");
                } catch (AcquireTimeoutException e) {
                    System.out.println("timeout");
                }
            }
        }
    }

    private static LockGrant obey(Coordinator coordinator, String path, String command, LockGrant held)
            throws InterruptedException {
        Duration timeout = Duration.ofMillis(500);
        DistributedLock mutex = DistributedLock.at(coordinator, path).withLayout(LockLayout.KAZOO);
        SharedLock shared = SharedLock.at(coordinator, path).withLayout(LockLayout.KAZOO);
        switch (command) {
            case "mutex":
                return mutex.acquire(timeout);
            case "read":
                return shared.readLock().acquire(timeout);
            case "write":
                return shared.writeLock().acquire(timeout);
            case "downgrade":
                return ((WriteGrant) held).downgrade();
            case "close":
                held.close();
                return held;
            default:
                throw new IllegalArgumentException("Invalid command \"" + command + "\"");
        }
    }
}
