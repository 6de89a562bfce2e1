package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.grant.RevocationOutcome;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.locks.LockMember;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Batch jobs that hold a lock for long, and an urgent client that asks them to give it up: the first one finishes its
 * step and consents; the second one does not follow, and loses the lock at a deadline.
 */
public final class RevocableJob {
    static final String LOCK = "/locks/warehouse";
    private static final Duration DEADLINE = Duration.ofMillis(500);

    private RevocableJob() {}

    /** Runs the demo; exit status 0 if everything that it shows is as it should be. */
    public static void main(String[] arguments) throws Exception {
        try (DemoStage stage = DemoStage.open();
                Coordinator coordinator = stage.connect()) {
            DistributedLock lock = DistributedLock.at(coordinator, LOCK);

            DemoProcess polite = stage.start("polite job", RevocableJobWorker.class, "consents");
            polite.awaits("step 3");
            LockMember holder = lock.holder().orElseThrow();
            System.out.println("urgent: asks " + holder.text() + " to give up, however long that takes");
            RevocationOutcome first = lock.requestRelease(holder).get();
            useIt(lock);
            DemoStage.check(polite.ends() == 0, "the polite job ended by itself");
            DemoStage.check(first == RevocationOutcome.RELEASED, "the polite job gave up: " + first);

            DemoProcess stubborn = stage.start("stubborn job", RevocableJobWorker.class, "does not listen");
            stubborn.awaits("step 3");
            holder = lock.holder().orElseThrow();
            System.out.println("urgent: asks " + holder.text() + " to give up");
            CompletableFuture<RevocationOutcome> asked = lock.requestRelease(holder);
            stubborn.awaits("somebody asks for the lock");
            System.out.println("urgent: asks again, and waits " + DEADLINE.toMillis() + " ms");
            asked.cancel(true);
            RevocationOutcome second = lock.requestRelease(holder, DEADLINE).get();
            useIt(lock);
            stubborn.awaits("stops: REVOKED");
            DemoStage.check(stubborn.ends() == 0, "the stubborn job stopped when it had lost the lock");
            DemoStage.check(second == RevocationOutcome.DELETED, "the stubborn job's znode was deleted: " + second);
        }
    }

    private static void useIt(DistributedLock lock) throws InterruptedException {
        try (LockGrant grant = lock.acquire(Duration.ofMinutes(1))) {
            System.out.println("urgent: has the lock, token " + grant.token());
        }
    }
}
