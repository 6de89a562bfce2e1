package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.grant.FencingToken;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.time.TimeSource;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * One of the processes of {@link LockDemo}: takes the lock, adds one to the counter, gives the lock back, again and
 * again.
 */
public final class LockDemoWorker {
    private LockDemoWorker() {}

    /**
     * Runs until it has had its turns, or is killed.
     *
     * @param arguments name, connect string, counter file, number of turns, how long a turn takes in milliseconds
     */
    public static void main(String[] arguments) throws Exception {
        String name = arguments[0];
        CounterFile counter = new CounterFile(Path.of(arguments[2]));
        int turns = Integer.parseInt(arguments[3]);
        Duration work = Duration.ofMillis(Long.parseLong(arguments[4]));
        try (Coordinator coordinator = DemoStage.connect(arguments[1])) {
            DistributedLock lock =
                    DistributedLock.at(coordinator, "/demo/counter").withData(name.getBytes(StandardCharsets.UTF_8));
            for (int turn = 0; turn < turns; turn++) {
                takeTurn(name, lock, counter, work);
            }
        }
    }

    private static void takeTurn(String name, DistributedLock lock, CounterFile counter, Duration work)
            throws Exception {
        TimeSource time = TimeSource.system();
        try (LockGrant grant = lock.acquire(Duration.ofMinutes(1))) {
            long from = time.wallMillis();
            say("GRANTED", name, grant.token(), from, from);
            long count = counter.read().count();
            Work.lasts(work);
            grant.ensureHeld();
            counter.write(grant.token(), count + 1);
            say("DONE", name, grant.token(), from, time.wallMillis());
        }
    }

    private static void say(String what, String name, FencingToken token, long from, long to) {
        System.out.println(what + " " + name + " " + token + " " + from + " " + to);
        System.out.flush();
    }
}
