package io.conclave.testkit.driver;

import io.conclave.error.Holder;
import io.conclave.metrics.MetricsHook;
import io.conclave.metrics.Ongoing;
import io.conclave.metrics.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Checks what the metrics hook is told in a run: what begins ends exactly once, nothing is told of it afterwards, and
 * it was told as a duration as often as it ended so that it has one. Thread-safe.
 */
final class Balance implements MetricsHook {
    private final Set<Begun> open = ConcurrentHashMap.newKeySet();
    private final Set<String> begun = ConcurrentHashMap.newKeySet(); // other durations are told afterwards only
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private final Map<String, AtomicInteger> durations = new ConcurrentHashMap<>(); // told less those that ended

    /** Whether all that has begun has ended. */
    boolean isEven() {
        return open.isEmpty();
    }

    /** What was wrong; asked once all is over. */
    List<String> violations() {
        open.forEach(one -> violations.add("it never ends for the metrics hook: " + one));
        durations.forEach((name, difference) -> {
            if (begun.contains(name) && difference.get() != 0) {
                violations.add("the durations of " + name + " are " + difference + " more than it ended");
            }
        });
        return List.copyOf(violations);
    }

    @Override
    public Ongoing begin(String name, String subject) {
        return new Begun(name, subject);
    }

    @Override
    public void duration(String name, String subject, Duration duration) {
        count(name, 1);
    }

    private void count(String name, int more) {
        durations.computeIfAbsent(name, first -> new AtomicInteger()).addAndGet(more);
    }

    private final class Begun implements Ongoing {
        private final String name;
        private final String subject;
        private final AtomicBoolean ended = new AtomicBoolean();

        Begun(String name, String subject) {
            this.name = name;
            this.subject = subject;
            open.add(this);
            begun.add(name);
        }

        @Override
        public void waitsFor(String obstacle, Optional<Holder> holder) {
            ensureOngoing("waitsFor");
        }

        @Override
        public void failed(Throwable why) {
            ensureOngoing(why.toString());
        }

        @Override
        public void detail(String key, String value) {
            ensureOngoing(key);
        }

        private void ensureOngoing(String what) {
            if (ended.get()) {
                violations.add(what + " was told to the metrics hook after the end of " + this);
            }
        }

        @Override
        public Ongoing next(String nextName, String nextSubject) {
            return new Begun(nextName, nextSubject);
        }

        @Override
        public void end(Outcome outcome) {
            if (!ended.compareAndSet(false, true)) {
                violations.add("it ended twice for the metrics hook: " + this);
            }
            open.remove(this);
            if (outcome == Outcome.GRANTED || isHold()) {
                count(name, -1);
            }
        }

        private boolean isHold() {
            return name.endsWith(".held") || name.endsWith(".inside");
        }

        @Override
        public String toString() {
            return name + " of " + subject;
        }
    }
}
