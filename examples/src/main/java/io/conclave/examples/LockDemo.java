package io.conclave.examples;

import io.conclave.time.TimeSource;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Several processes take turns at a counter in a file under a distributed lock; one of them is killed while it holds
 * the lock.
 *
 * <p>It starts a durable server and the workers as processes of their own, talks to them over TCP, and shows who held
 * the lock when, that nobody overlapped, that no count was lost, and that the kill cost no more than the session
 * timeout.
 */
public final class LockDemo {
    private static final int WORKERS = 4;
    private static final int TURNS_EACH = 6;
    private static final int TURNS_BEFORE_THE_KILL = 5;
    private static final long WORK_MS = 50;
    private static final String VICTIM = "worker-2";

    private final BlockingQueue<HeldTurn> reports = new LinkedBlockingQueue<>();
    private final Map<String, ChildProcess> workers = new HashMap<>();
    private final List<HeldTurn> turns = new ArrayList<>();
    private long killedAtMs;

    private LockDemo() {}

    /** Runs the demo; exit status 0 if everything that it shows is as it should be. */
    public static void main(String[] arguments) throws Exception {
        List<String> problems;
        try (DemoStage stage = DemoStage.open()) {
            problems = new LockDemo().run(stage);
        }
        problems.forEach(problem -> System.out.println("PROBLEM: " + problem));
        System.exit(problems.isEmpty() ? 0 : 1);
    }

    private List<String> run(DemoStage stage) throws InterruptedException {
        try {
            Path counter = stage.file("counter");
            new CounterFile(counter).create();
            startWorkers(stage.connectString(), counter);
            collectTurns();
            return new LockDemoReport(turns, VICTIM, killedAtMs, DemoStage.SESSION_TIMEOUT.toMillis())
                    .print(new CounterFile(counter).read().count());
        } finally {
            workers.values().forEach(ChildProcess::kill);
        }
    }

    private void startWorkers(String connectString, Path counter) {
        for (int i = 1; i <= WORKERS; i++) {
            String name = "worker-" + i;
            workers.put(
                    name,
                    ChildProcess.start(
                            line -> onWorkerLine(name, line),
                            LockDemoWorker.class,
                            name,
                            connectString,
                            counter.toString(),
                            Integer.toString(TURNS_EACH),
                            Long.toString(WORK_MS)));
        }
        System.out.println(WORKERS + " processes take " + TURNS_EACH + " turns each; " + VICTIM
                + " will be killed with -9 while it holds the lock");
    }

    private void onWorkerLine(String name, String line) {
        if (line.startsWith("GRANTED ") || line.startsWith("DONE ")) {
            reports.add(HeldTurn.parse(line));
        } else {
            System.out.println(name + ": " + line);
        }
    }

    /**
     * Reads the workers' reports until every survivor has had its turns; the victim is killed in the middle of one of
     * its own.
     */
    private void collectTurns() throws InterruptedException {
        int expected = (WORKERS - 1) * TURNS_EACH;
        while (expected > 0) {
            HeldTurn turn = reports.poll(60, TimeUnit.SECONDS);
            if (turn == null) {
                throw new IllegalStateException("No worker has reported for a minute; still expected: " + expected);
            }
            if (turn.finished()) {
                turns.add(turn);
                expected -= turn.holder().equals(VICTIM) ? 0 : 1;
            } else if (mayKill(turn)) {
                kill(turn);
            }
        }
    }

    private boolean mayKill(HeldTurn turn) {
        return killedAtMs == 0 && turn.holder().equals(VICTIM) && turns.size() >= TURNS_BEFORE_THE_KILL;
    }

    private void kill(HeldTurn turn) throws InterruptedException {
        ChildProcess victim = workers.get(VICTIM);
        if (victim == null) {
            throw new IllegalStateException("No process " + VICTIM);
        }
        victim.kill();
        victim.await();
        killedAtMs = TimeSource.system().wallMillis();
        turns.add(new HeldTurn(turn.holder(), turn.token(), turn.fromMs(), killedAtMs, false));
    }
}
