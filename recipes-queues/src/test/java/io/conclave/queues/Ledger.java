package io.conclave.queues;

import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What was put and what came out in one run of a queue with faults. Thread-safe. */
final class Ledger {
    private final FaultRun run;
    private final Set<String> put = new HashSet<>();
    private final Set<String> maybePut = new HashSet<>();
    private final List<String> out = new ArrayList<>();

    Ledger(FaultRun run) {
        this.run = run;
    }

    /** A put of an item. */
    interface Putting {
        void run() throws Exception;
    }

    /** Puts; if that fails, it may be there or not. */
    void put(String item, Putting putting) throws Exception {
        synchronized (this) {
            maybePut.add(item);
        }
        putting.run();
        synchronized (this) {
            maybePut.remove(item);
            put.add(item);
        }
    }

    /** Came out, or was acknowledged. */
    synchronized void out(String item) {
        out.add(item);
    }

    synchronized int outCount() {
        return out.size();
    }

    /**
     * Once everybody is done and everything that goes on behind the scenes is over: takes what is left, and looks at it
     * all.
     */
    void close(Actor helper, ItemQueue<String> queue, boolean victimTakes) throws InterruptedException {
        run.pause(Duration.ofSeconds(60)); // longer than a session lives
        List<String> left = QueueFixture.drain(queue);
        left.forEach(this::out);
        check(victimTakes && mayLose(run), left); // asked now: faults may strike behind the victim's back
    }

    private synchronized void check(boolean mayLose, List<String> left) {
        Set<String> once = new HashSet<>();
        for (String item : out) {
            if (!once.add(item)) {
                doubled(item);
            }
            if (!put.contains(item) && !maybePut.contains(item)) {
                run.violated(item + " came out, and was never put: " + out);
            }
        }
        List<String> lost = put.stream().filter(item -> !once.contains(item)).toList();
        if (lost.size() > (mayLose ? 1 : 0)) {
            run.violated("lost: " + lost + "; put " + put + ", out " + out + ", left at the end " + left);
        }
    }

    /**
     * May happen only if a reply was lost, the znode that would have told the outcome was deleted, and a consumer was
     * quick: see {@link Producers}.
     */
    private void doubled(String item) {
        boolean mayBe = run.struck().stream().anyMatch(Fault::deletesNodes)
                && run.struck().size() > 1;
        if (!mayBe) {
            run.violated(item + " came out twice: " + out);
        }
    }

    /**
     * Whether an item may be lost with the consumer that took it: its session was ended, or another client has deleted
     * the znode that would have told.
     */
    static boolean mayLose(FaultRun run) {
        return run.struck().stream().anyMatch(fault -> fault.endsSession() || fault.deletesNodes());
    }
}
