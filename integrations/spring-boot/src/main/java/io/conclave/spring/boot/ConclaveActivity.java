package io.conclave.spring.boot;

import io.conclave.error.Holder;
import io.conclave.metrics.MetricsHook;
import io.conclave.metrics.Ongoing;
import io.conclave.metrics.Outcome;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Knows what the coordinator holds and awaits now. Thread-safe; never blocks. */
final class ConclaveActivity implements MetricsHook {
    private final TimeSource time = TimeSource.system();
    private final Set<Activity> present = ConcurrentHashMap.newKeySet();

    @Override
    public Ongoing begin(String name, String subject) {
        Activity begun = new Activity(name, subject);
        present.add(begun);
        return begun;
    }

    /** What is held now, the oldest first. */
    List<Activity> held() {
        return those(true);
    }

    /** What is awaited now, the oldest first. */
    List<Activity> awaited() {
        return those(false);
    }

    private List<Activity> those(boolean holds) {
        return present.stream()
                .filter(activity -> activity.holds() == holds)
                .sorted(Comparator.comparingLong(activity -> activity.beganNanos))
                .toList();
    }

    /** A wait, or a hold. */
    final class Activity implements Ongoing {
        private final String name;
        private final String subject;
        private final long beganNanos = time.monotonicNanos();
        private final Map<String, String> details = new ConcurrentHashMap<>();
        private volatile @Nullable String obstacle;

        private Activity(String name, String subject) {
            this.name = name;
            this.subject = subject;
        }

        private boolean holds() {
            return name.endsWith(".held") || name.endsWith(".inside");
        }

        /** Such as {@code lock} or {@code election}. */
        String recipe() {
            boolean isPlain = name.endsWith(".held") || name.endsWith(".wait");
            return isPlain ? name.substring(0, name.lastIndexOf('.')) : name;
        }

        String subject() {
            return subject;
        }

        Duration age() {
            return Duration.ofNanos(time.monotonicNanos() - beganNanos);
        }

        /** The token, and the like, of a hold. */
        Optional<String> valueOf(String key) {
            return Optional.ofNullable(details.get(key));
        }

        /** What a wait waits for. */
        Optional<String> obstacle() {
            return Optional.ofNullable(obstacle);
        }

        @Override
        public void waitsFor(String inTheWay, Optional<Holder> holder) {
            obstacle = inTheWay;
        }

        @Override
        public void detail(String key, String value) {
            details.put(key, value);
        }

        @Override
        public Ongoing next(String nextName, String nextSubject) {
            return begin(nextName, nextSubject);
        }

        @Override
        public void end(Outcome outcome) {
            present.remove(this);
        }
    }
}
