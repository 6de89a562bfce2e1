package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.queues.Claim;
import io.conclave.queues.DistributedPriorityQueue;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/** A worker of {@link WorkQueueDemo}: claims a job, works, acknowledges it. */
public final class WorkQueueDemoWorker {
    private static final Duration WORK = Duration.ofMillis(150);

    private WorkQueueDemoWorker() {}

    /**
     * Goes on until there is a line of input, or it is killed.
     *
     * @param arguments name, connect string, "hangs" if it does so in the middle of its first job
     */
    public static void main(String[] arguments) throws Exception {
        boolean hangs = arguments[2].equals("hangs");
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Coordinator coordinator = DemoStage.connect(arguments[1])) {
            DistributedPriorityQueue<String> queue = WorkQueueDemo.queue(coordinator);
            while (!orders.ready()) {
                Optional<Claim<String>> claim = queue.claim(Duration.ofMillis(500));
                if (claim.isPresent()) {
                    try (Claim<String> job = claim.get()) { // given back unless it was acknowledged
                        work(job, hangs, orders);
                    }
                }
            }
        }
    }

    private static void work(Claim<String> job, boolean hangs, BufferedReader orders) throws Exception {
        System.out.println("works on " + job.item() + ", delivery " + job.deliveries());
        if (hangs) {
            orders.readLine();
        }
        Work.lasts(WORK);
        if (job.item().equals(WorkQueueDemo.FAULTY_JOB)) {
            System.out.println("cannot do the " + job.item());
        } else {
            job.acknowledge();
            System.out.println("has done " + job.item());
        }
    }
}
