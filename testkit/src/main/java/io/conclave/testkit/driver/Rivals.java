package io.conclave.testkit.driver;

import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What other processes do while the victim is away, and the absences during which they do it.
 *
 * <p>An absence begins with a request of the victim, or while everybody waits. At the next moment when everybody waits
 * the rival begins: at once, or after the victim's session has expired. When the rival has ended, the victim comes
 * back. Of several absences at once the rivals act one after the other. Thread-safe; {@code lock} guards the state, and
 * nothing blocks while it is held.
 */
final class Rivals {
    private final FaultRun run;
    private final MemoryStore store;
    private final StoppableProcess process;
    private final Duration sessionTimeout;
    private final Object lock = new Object();
    // All below: @GuardedBy("lock").
    private final Map<String, Actor.Body> bodies = new LinkedHashMap<>();
    private final Deque<Plan.Strike> due = new ArrayDeque<>();
    private int absences;
    private int acted;
    private boolean isActing;

    Rivals(FaultRun run, MemoryStore store, StoppableProcess process, Duration sessionTimeout) {
        this.run = run;
        this.store = store;
        this.process = process;
        this.sessionTimeout = sessionTimeout;
    }

    void add(String name, Actor.Body body) {
        if (name.isEmpty() || name.matches(".*[,:@/].*")) {
            throw new IllegalArgumentException(
                    "Invalid name of a rival \"" + name + "\": it must not be empty, nor contain one of , : @ /");
        }
        synchronized (lock) {
            bodies.put(name, body);
        }
    }

    Set<String> names() {
        synchronized (lock) {
            return new TreeSet<>(bodies.keySet());
        }
    }

    /** The victim goes; from now on the run is not over before the rival has ended. */
    void begin(Fault absence) {
        synchronized (lock) {
            absences++;
        }
        run.started();
        if (!absence.stopsProcess()) {
            store.faults().keepAway(process.clocks());
        }
    }

    /** Everybody waits: the victim is away, and the rival may begin. */
    void act(Plan.Strike strike, long victimsSession) {
        Fault absence = strike.fault();
        if (absence.stopsProcess()) {
            process.stop();
            store.faults().releaseReplies(victimsSession); // they are there when the process goes on
        } else {
            store.faults().isolate(process.clocks());
        }
        if (absence.endsSession()) {
            run.time().schedule(sessionTimeout.plusMillis(1), () -> start(strike));
        } else {
            // A rival that waits for the victim's session to end has it end: that explains what the victim says then.
            run.time().schedule(sessionTimeout.dividedBy(2), () -> {
                if (isAway()) {
                    run.sessionMayEnd();
                }
            });
            start(strike);
        }
    }

    private void start(Plan.Strike strike) {
        synchronized (lock) {
            due.add(strike);
            if (isActing) {
                return;
            }
            isActing = true;
        }
        run.threads().execute(this::actInTurn);
    }

    private void actInTurn() {
        try {
            for (Plan.Strike next = next(); next != null; next = next()) {
                try {
                    act(next.rival());
                } finally {
                    end();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Plan.@Nullable Strike next() {
        synchronized (lock) {
            Plan.Strike next = due.poll();
            isActing = next != null;
            return next;
        }
    }

    private void act(String name) throws InterruptedException {
        Actor.Body body;
        synchronized (lock) {
            body = bodies.get(name);
        }
        if (body == null) {
            run.violated("the scenario has no rival \"" + name + "\", only " + names());
        } else {
            int number;
            synchronized (lock) {
                number = ++acted;
            }
            Actor rival = run.rivalActor("rival" + (number == 1 ? "" : " " + number) + " that " + name);
            rival.start(body);
            rival.join();
        }
    }

    private void end() {
        boolean isBack;
        synchronized (lock) {
            isBack = --absences == 0;
        }
        if (isBack) {
            store.faults().rejoin(process.clocks());
            process.goOn();
        }
        run.finished();
    }

    /** Whether the victim is away. */
    boolean isAway() {
        synchronized (lock) {
            return absences > 0;
        }
    }
}
