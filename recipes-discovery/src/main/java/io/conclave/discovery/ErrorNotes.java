package io.conclave.discovery;

import io.conclave.spi.Elapsed;
import io.conclave.time.TimeSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * When errors of instances were noted: of each the latest few, which is enough to know whether it is down. What is too
 * old is forgotten at the next note. Thread-safe.
 */
final class ErrorNotes {
    private final ErrorPolicy policy;
    private final TimeSource time;
    private final Map<ServiceInstance.Identity, Deque<Elapsed>> notes = new HashMap<>(); // @GuardedBy("this")

    ErrorNotes(ErrorPolicy policy, TimeSource time) {
        this.policy = policy;
        this.time = time;
    }

    synchronized void note(ServiceInstance instance) {
        notes.values().removeIf(noted -> !isRecent(noted.getLast()));
        Deque<Elapsed> noted = notes.computeIfAbsent(instance.identity(), first -> new ArrayDeque<>());
        noted.addLast(Elapsed.since(time));
        if (noted.size() > policy.errors()) {
            noted.removeFirst();
        }
    }

    synchronized boolean isDown(ServiceInstance instance) {
        Deque<Elapsed> noted = notes.get(instance.identity());
        return noted != null && noted.size() == policy.errors() && isRecent(noted.getFirst());
    }

    private boolean isRecent(Elapsed note) {
        return !note.remainingOf(policy.within()).isZero();
    }
}
