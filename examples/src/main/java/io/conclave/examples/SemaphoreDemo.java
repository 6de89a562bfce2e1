package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedSemaphore;
import io.conclave.locks.PermitGrant;
import io.conclave.locks.SemaphoreMember;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Eight processes share a resource that bears three at a time; for a while it is made to bear one only, and a process
 * is killed while it uses the resource.
 */
public final class SemaphoreDemo {
    static final String SEMAPHORE = "/semaphores/licences";
    static final int PERMITS = 3;

    private static final int WORKERS = 8;
    private static final int USES = 12;
    private static final int USES_ONE_BY_ONE = 5;

    private final BlockingQueue<Use> reports = new LinkedBlockingQueue<>();
    private final List<Use> uses = new ArrayList<>();
    private long oneByOneFromMs;
    private long oneByOneToMs = Long.MAX_VALUE;

    private SemaphoreDemo() {}

    /**
     * A time that a worker had a permit, by the machine's clock: from after it was granted until before it was given
     * back.
     */
    record Use(String worker, long fromMs, long toMs) {}

    /** Runs the demo; exit status 0 if everything that it shows is as it should be. */
    public static void main(String[] arguments) throws Exception {
        try (DemoStage stage = DemoStage.open();
                Coordinator coordinator = stage.connect()) {
            new SemaphoreDemo().play(stage, DistributedSemaphore.adjustable(coordinator, SEMAPHORE, PERMITS));
        }
    }

    private void play(DemoStage stage, DistributedSemaphore semaphore) throws InterruptedException {
        List<DemoProcess> workers = startWorkers(stage);
        DemoProcess victim = workers.remove(workers.size() - 1);
        System.out.println(workers.size() + " processes use the resource, " + semaphore.permits() + " at a time");
        workers.forEach(worker -> worker.tell("go"));
        collect(USES);
        useOneByOne(semaphore);
        collect(USES);

        victim.tell("go");
        victim.awaits("has a permit");
        long fromMs = now();
        victim.kill();
        long killedAtMs = now();
        uses.add(new Use("the killed one", fromMs, killedAtMs));
        System.out.println("One more got a permit, and was killed with -9");
        useAllAtOnce(semaphore, killedAtMs);

        collect(USES);
        for (DemoProcess worker : workers) {
            worker.tell("stop");
        }
        for (DemoProcess worker : workers) {
            worker.ends();
        }
        collect(reports.size());
        checkUses();
    }

    private List<DemoProcess> startWorkers(DemoStage stage) throws InterruptedException {
        List<DemoProcess> workers = new ArrayList<>();
        for (int i = 1; i <= WORKERS; i++) {
            String manner = i < WORKERS ? "goes on" : "hangs";
            workers.add(stage.start("worker-" + i, this::onLine, SemaphoreDemoWorker.class, manner));
        }
        for (DemoProcess worker : workers) {
            worker.awaits("is ready");
        }
        return workers;
    }

    private void onLine(String line) {
        String[] words = line.split(" ");
        if (words[0].equals("USED")) {
            reports.add(new Use(words[1], Long.parseLong(words[2]), Long.parseLong(words[3])));
        }
    }

    private void collect(int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            Use use = reports.poll(60, TimeUnit.SECONDS);
            if (use == null) {
                throw new IllegalStateException("No worker has reported for a minute");
            }
            uses.add(use);
        }
    }

    /** Fewer permits take none away: those that are out run out first. */
    private void useOneByOne(DistributedSemaphore semaphore) throws InterruptedException {
        semaphore.setPermits(1);
        while (semaphore.holders().size() > 1) {
            collect(1);
        }
        oneByOneFromMs = now();
        System.out.println("Now there is one permit; waiting: "
                + semaphore.waiters().stream().map(SemaphoreMember::text).collect(Collectors.joining(", ")));
        while (uses.stream().filter(this::isOneByOne).count() < USES_ONE_BY_ONE) {
            collect(1);
        }
        oneByOneToMs = now();
        semaphore.setPermits(PERMITS);
        System.out.println("Now there are " + semaphore.permits() + " again");
    }

    /**
     * A process that needs all permits is not overtaken by those that need one, and gets them when the dead process's
     * permit is back.
     */
    private void useAllAtOnce(DistributedSemaphore semaphore, long killedAtMs) throws InterruptedException {
        try (PermitGrant all = semaphore.acquire(PERMITS, Duration.ofSeconds(30))) {
            long fromMs = now();
            DemoStage.checkCameBack(
                    "the killed process's permit came back: all " + all.permits() + " were had at once", killedAtMs);
            uses.addAll(Collections.nCopies(PERMITS, new Use("this process", fromMs, now())));
        }
    }

    private void checkUses() {
        uses.sort(Comparator.comparingLong(Use::fromMs));
        List<Integer> inUse = uses.stream().map(this::inUseAtTheBeginningOf).toList();
        System.out.println("In use, each time that somebody began: "
                + inUse.stream().map(String::valueOf).collect(Collectors.joining(" ")));
        int most = Collections.max(inUse);
        DemoStage.check(most <= PERMITS, "there were " + most + " at once, and never more");
        List<Use> alone = uses.stream().filter(this::isOneByOne).toList();
        DemoStage.check(
                alone.stream().allMatch(use -> inUseAtTheBeginningOf(use) == 1),
                "while there was one permit, " + alone.size() + " came one after the other");
    }

    private boolean isOneByOne(Use use) {
        return use.fromMs() >= oneByOneFromMs && use.fromMs() < oneByOneToMs;
    }

    private int inUseAtTheBeginningOf(Use use) {
        return (int) uses.stream()
                .filter(other -> other.fromMs() <= use.fromMs() && use.fromMs() < other.toMs())
                .count();
    }

    private static long now() {
        return TimeSource.system().wallMillis();
    }
}
