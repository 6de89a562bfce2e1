package io.conclave.micrometer;

import io.conclave.metrics.MetricsHook;
import io.conclave.metrics.Ongoing;
import io.conclave.metrics.Outcome;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;

/**
 * Makes meters of what a coordinator tells its metrics hook. Each name of docs/metrics.md becomes a meter with {@code
 * conclave.} before it:
 *
 * <ul>
 *   <li>a count becomes a counter: {@code conclave.lock.lost}
 *   <li>a duration becomes a timer: {@code conclave.lock.wait}
 *   <li>what lasts becomes a long task timer with {@code .active} behind it: {@code conclave.lock.held.active} tells
 *   how
 *       many are held now, and for how long
 * </ul>
 *
 * <p>The tag {@value #NAME_TAG} has what {@link PathNames} calls the path; meters of sessions and connections have
 * none. To be given to {@link io.conclave.coordinator.CoordinatorBuilder#metrics}, of one coordinator or several, and
 * bound to a registry, or several. The order does not matter: what was counted before is seen, and what lasts then is
 * active; only durations of before are not. Thread-safe, and never blocks.
 */
public final class ConclaveMetrics implements MetricsHook, MeterBinder {
    /** The tag that says which lock, or other recipe. */
    public static final String NAME_TAG = "name";

    private static final String PREFIX = "conclave.";
    private static final String ACTIVE = ".active";

    private final PathNames names;
    private final Tags tags;
    private final List<MeterRegistry> registries = new CopyOnWriteArrayList<>();
    private final Map<Key, LongAdder> counts = new ConcurrentHashMap<>();
    private final Set<Active> active = ConcurrentHashMap.newKeySet();

    private record Key(String name, Tags tags) {}

    /** With one name for all paths, and no further tags. */
    public ConclaveMetrics() {
        this(PathNames.allAlike());
    }

    /** With names for paths. */
    public ConclaveMetrics(PathNames names) {
        this(names, Tags.empty());
    }

    /**
     * With names for paths.
     *
     * @param tags which every meter has besides, to tell coordinators apart, say
     */
    public ConclaveMetrics(PathNames names, Iterable<Tag> tags) {
        this.names = Objects.requireNonNull(names, "names");
        this.tags = Tags.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        synchronized (registries) {
            if (registries.contains(registry)) {
                return;
            }
            registries.add(registry); // first: whatever comes from now on finds it by itself
        }
        counts.forEach((key, adder) -> register(key, adder, registry));
        active.forEach(one -> one.start(registry));
    }

    @Override
    public void count(String name, String subject) {
        Key key = new Key(PREFIX + name, tagsOf(name, subject));
        LongAdder present = counts.get(key);
        if (present == null) {
            LongAdder made = new LongAdder();
            LongAdder other = counts.putIfAbsent(key, made);
            present = other == null ? made : other;
            for (MeterRegistry registry : registries) {
                register(key, present, registry);
            }
        }
        present.increment();
    }

    private static void register(Key key, LongAdder adder, MeterRegistry registry) {
        FunctionCounter.builder(key.name, adder, LongAdder::sum).tags(key.tags).register(registry);
    }

    @Override
    public void duration(String name, String subject, Duration duration) {
        for (MeterRegistry registry : registries) {
            Timer.builder(PREFIX + name)
                    .tags(tagsOf(name, subject))
                    .register(registry)
                    .record(duration);
        }
    }

    @Override
    public Ongoing begin(String name, String subject) {
        Active begun = new Active(PREFIX + name + ACTIVE, tagsOf(name, subject));
        active.add(begun);
        for (MeterRegistry registry : registries) {
            begun.start(registry);
        }
        return begun;
    }

    /** The subject of these is a server's address, of which there may be any number. */
    private Tags tagsOf(String name, String subject) {
        boolean isOfSession = name.startsWith("session.") || name.startsWith("connection.");
        return isOfSession ? tags : tags.and(NAME_TAG, names.of(subject));
    }

    /** What lasts, in each registry. */
    private final class Active implements Ongoing {
        private final String name;
        private final Tags ownTags;
        private final Map<MeterRegistry, LongTaskTimer.Sample> samples = new HashMap<>(); // guarded by this
        private boolean ended; // guarded by this

        Active(String name, Tags ownTags) {
            this.name = name;
            this.ownTags = ownTags;
        }

        synchronized void start(MeterRegistry registry) {
            if (!ended && !samples.containsKey(registry)) {
                samples.put(
                        registry,
                        LongTaskTimer.builder(name)
                                .tags(ownTags)
                                .register(registry)
                                .start());
            }
        }

        @Override
        public Ongoing next(String nextName, String nextSubject) {
            return begin(nextName, nextSubject);
        }

        @Override
        public synchronized void end(Outcome outcome) {
            ended = true;
            active.remove(this);
            samples.values().forEach(LongTaskTimer.Sample::stop);
        }
    }
}
