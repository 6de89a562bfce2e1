package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The holder of a lock is connected to a follower that is cut off from the others: it must know that its time is over
 * before anybody else is given the lock.
 */
class CutOffHolderIT {
    private static final Duration SESSION = Duration.ofSeconds(3);

    @TempDir
    private Path home;

    @Test
    void aHolderWhoseFollowerIsCutOffLosesItsGrantByItsOwnClockBeforeAnyoneElseGetsIt() throws Exception {
        try (Ensemble ensemble = Ensemble.of(EnsembleKind.chosen(), home)
                .ticks(500, 20, 10)
                .withSmallJvms()
                .withBreakableLinks()
                .start()) {
            Member leader = ensemble.awaitAllServing();
            Member follower = ensemble.others(leader).get(0);
            try (Coordinator cutOff = connect(ensemble.connectString(follower));
                    Coordinator other = connect(ensemble.connectString(leader));
                    LockGrant held = DistributedLock.at(cutOff, "/lock").acquire(SESSION)) {
                AtomicLong lastHeldNanos = new AtomicLong();
                Thread holder = new Thread(() -> {
                    while (held.isHeld()) {
                        lastHeldNanos.set(System.nanoTime());
                        Thread.onSpinWait();
                    }
                });
                holder.start();
                ensemble.isolate(follower);
                try (LockGrant next = DistributedLock.at(other, "/lock").acquire(Duration.ofSeconds(30))) {
                    long grantedNanos = System.nanoTime();
                    boolean wasHeld = held.isHeld();
                    assertTrue(next.token().compareTo(held.token()) > 0);
                    holder.join();
                    long marginMs = (grantedNanos - lastHeldNanos.get()) / 1_000_000;
                    System.out.println(ensemble + ": the holder behind a cut-off follower knew of its loss " + marginMs
                            + " ms before the next one was granted the lock");
                    if (held.deadlineIsStrict()) {
                        assertFalse(wasHeld);
                        assertTrue(marginMs >= 0);
                    } else {
                        assertEquals(EnsembleKind.APACHE_ZOOKEEPER, ensemble.kind());
                    }
                }
                ensemble.mend();
            }
        }
    }

    private static Coordinator connect(String connectString) {
        return Coordinator.builder(connectString).sessionTimeout(SESSION).connect();
    }
}
