package io.conclave.metrics;

import io.conclave.error.Holder;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps what an application's metrics hook throws away from its callers: a grant is on its way, and must arrive. */
record GuardedMetrics(MetricsHook hook) implements MetricsHook {
    private static final Logger LOG = LoggerFactory.getLogger(GuardedMetrics.class);

    GuardedMetrics {
        Objects.requireNonNull(hook, "hook");
    }

    @Override
    public void count(String name, String subject) {
        try {
            hook.count(name, subject);
        } catch (Throwable e) { // Kotlin and Scala code may throw anything
            LOG.error("The metrics hook failed to count {} of {}", name, subject, e);
        }
    }

    @Override
    public void duration(String name, String subject, Duration duration) {
        try {
            hook.duration(name, subject, duration);
        } catch (Throwable e) {
            LOG.error("The metrics hook failed to take the duration {} of {}", name, subject, e);
        }
    }

    @Override
    public Ongoing begin(String name, String subject) {
        return guarded(() -> hook.begin(name, subject), name, subject);
    }

    private static Ongoing guarded(Supplier<Ongoing> begin, String name, String subject) {
        try {
            Ongoing begun = begin.get();
            return begun == Ongoing.NONE
                    ? begun
                    : new Guarded(Objects.requireNonNull(begun, "what begins"), name, subject);
        } catch (Throwable e) {
            LOG.error("The metrics hook failed to begin {} of {}", name, subject, e);
            return Ongoing.NONE;
        }
    }

    private record Guarded(Ongoing ongoing, String name, String subject) implements Ongoing {
        @Override
        public void waitsFor(String obstacle, Optional<Holder> holder) {
            tell(() -> ongoing.waitsFor(obstacle, holder));
        }

        @Override
        public void failed(Throwable why) {
            tell(() -> ongoing.failed(why));
        }

        @Override
        public void detail(String key, String value) {
            tell(() -> ongoing.detail(key, value));
        }

        @Override
        public Ongoing next(String nextName, String nextSubject) {
            return guarded(() -> ongoing.next(nextName, nextSubject), nextName, nextSubject);
        }

        @Override
        public void end(Outcome outcome) {
            tell(() -> ongoing.end(outcome));
        }

        private void tell(Runnable call) {
            try {
                call.run();
            } catch (Throwable e) {
                LOG.error("The metrics hook failed at {} of {}", name, subject, e);
            }
        }
    }
}
