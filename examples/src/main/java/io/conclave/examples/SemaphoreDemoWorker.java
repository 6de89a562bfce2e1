package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedSemaphore;
import io.conclave.locks.PermitGrant;
import io.conclave.time.TimeSource;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** One of the processes of {@link SemaphoreDemo}: uses the resource under a permit, again and again. */
public final class SemaphoreDemoWorker {
    private static final Duration WORK = Duration.ofMillis(50);

    private SemaphoreDemoWorker() {}

    /**
     * Begins when there is a line of input, and goes on until there is another one, or it is killed.
     *
     * @param arguments name, connect string, "hangs" if it does so while it has a permit
     */
    public static void main(String[] arguments) throws Exception {
        String name = arguments[0];
        boolean hangs = arguments[2].equals("hangs");
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Coordinator coordinator = DemoStage.connect(arguments[1])) {
            DistributedSemaphore semaphore = DistributedSemaphore.adjustable(
                            coordinator, SemaphoreDemo.SEMAPHORE, SemaphoreDemo.PERMITS)
                    .withData(name.getBytes(StandardCharsets.UTF_8));
            System.out.println("is ready");
            orders.readLine();
            if (hangs) {
                semaphore.acquire();
                System.out.println("has a permit");
                orders.readLine();
            }
            while (!orders.ready()) {
                use(name, semaphore);
            }
        }
    }

    private static void use(String name, DistributedSemaphore semaphore) throws Exception {
        try (PermitGrant permit = semaphore.acquire()) {
            long from = TimeSource.system().wallMillis();
            Work.lasts(WORK);
            permit.ensureHeld();
            System.out.println(
                    "USED " + name + " " + from + " " + TimeSource.system().wallMillis());
        }
    }
}
