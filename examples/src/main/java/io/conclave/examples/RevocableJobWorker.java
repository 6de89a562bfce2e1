package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A job of {@link RevocableJob}: works in steps for as long as it holds the lock. */
public final class RevocableJobWorker {
    private static final Duration STEP = Duration.ofMillis(100);

    private RevocableJobWorker() {}

    /**
     * Runs until it gives the lock up, or has lost it.
     *
     * @param arguments name, connect string, "consents" if it is a job that listens
     */
    public static void main(String[] arguments) throws Exception {
        boolean consents = arguments[2].equals("consents");
        try (Coordinator coordinator = DemoStage.connect(arguments[1])) {
            DistributedLock lock = DistributedLock.at(coordinator, RevocableJob.LOCK)
                    .withData(arguments[0].getBytes(StandardCharsets.UTF_8));
            try (LockGrant grant = lock.acquire()) {
                work(grant, consents);
            }
        }
    }

    private static void work(LockGrant grant, boolean consents) throws Exception {
        CompletableFuture<Void> asked = grant.revocationRequested();
        asked.thenRun(() -> System.out.println("somebody asks for the lock"));
        for (int step = 1; grant.isHeld(); step++) {
            Work.lasts(STEP);
            System.out.println("step " + step + " is done");
            if (consents && asked.isDone()) {
                System.out.println("gives the lock up between two steps");
                return;
            }
        }
        System.out.println("stops: " + grant.lost().get());
    }
}
