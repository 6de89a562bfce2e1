package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.DataCodec;
import io.conclave.queues.DistributedPriorityQueue;
import io.conclave.queues.QueueCount;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Processes work off a priority queue; one is killed in the middle of a job, which comes back, one job fails again and
 * again and becomes a dead letter, and an urgent one overtakes the others.
 */
public final class WorkQueueDemo {
    static final String FAULTY_JOB = "faulty job";

    private static final int JOBS = 12;
    private static final int ROUTINE = 50;
    private static final int URGENT = 1;

    private final BlockingQueue<String> done = new LinkedBlockingQueue<>();
    private final List<String> finished = new ArrayList<>();

    private WorkQueueDemo() {}

    /** The queue as the demo's processes use it: three attempts at a job, each of half a minute at most. */
    static DistributedPriorityQueue<String> queue(Coordinator coordinator) {
        return DistributedPriorityQueue.at(coordinator, "/queues/jobs", DataCodec.TEXT)
                .withVisibility(Duration.ofSeconds(30))
                .withMaxDeliveries(3);
    }

    /** Runs the demo; exit status 0 if everything that it shows is as it should be. */
    public static void main(String[] arguments) throws Exception {
        try (DemoStage stage = DemoStage.open();
                Coordinator coordinator = stage.connect()) {
            new WorkQueueDemo().play(stage, queue(coordinator));
        }
    }

    private void play(DemoStage stage, DistributedPriorityQueue<String> queue) throws InterruptedException {
        for (int job = 1; job <= JOBS; job++) {
            queue.put("job " + job, ROUTINE);
        }
        queue.put(FAULTY_JOB, ROUTINE);
        System.out.println("Waiting in the queue: " + queue.count().waiting());

        DemoProcess victim = worker(stage, "victim", "hangs");
        victim.awaits("works on job 1,");
        List<DemoProcess> workers = List.of(worker(stage, "ann", "works"), worker(stage, "ben", "works"));
        collect(2);
        queue.put("urgent job", URGENT);
        System.out.println("An urgent job was put");
        collect(3);
        DemoStage.check(finished.contains("urgent job"), "the urgent job overtook the others");

        System.out.println("The victim is killed with -9 in the middle of job 1");
        victim.kill();
        long killedAtMs = TimeSource.system().wallMillis();
        while (!finished.contains("job 1")) {
            collect(1);
        }
        DemoStage.checkCameBack("job 1 was done by another process", killedAtMs);
        collect(JOBS + 1 - finished.size());
        DemoStage.check(
                finished.size() == JOBS + 1 && new HashSet<>(finished).size() == JOBS + 1,
                "every job was done, and acknowledged once");
        checkDeadLetter(queue);
        for (DemoProcess worker : workers) {
            worker.tell("stop");
            worker.ends();
        }
    }

    private void checkDeadLetter(DistributedPriorityQueue<String> queue) throws InterruptedException {
        String dead = queue.deadLetters().take(Duration.ofSeconds(30)).orElse("none");
        DemoStage.check(dead.equals(FAULTY_JOB), "after three attempts the faulty job is a dead letter");
        QueueCount left = queue.count();
        DemoStage.check(left.equals(new QueueCount(0, 0, 0)), "nothing is left: " + left);
    }

    private DemoProcess worker(DemoStage stage, String name, String manner) {
        return stage.start(name, line -> onLine(name, line), WorkQueueDemoWorker.class, manner);
    }

    private void onLine(String worker, String line) {
        System.out.println(worker + ": " + line);
        if (line.startsWith("has done ")) {
            done.add(line.substring("has done ".length()));
        }
    }

    private void collect(int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            String job = done.poll(60, TimeUnit.SECONDS);
            if (job == null) {
                throw new IllegalStateException("No worker has done anything for a minute; done: " + finished);
            }
            finished.add(job);
        }
    }
}
