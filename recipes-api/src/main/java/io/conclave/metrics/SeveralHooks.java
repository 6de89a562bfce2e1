package io.conclave.metrics;

import io.conclave.error.Holder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Tells several hooks; none of them throws. */
record SeveralHooks(List<MetricsHook> hooks) implements MetricsHook {
    @Override
    public void count(String name, String subject) {
        hooks.forEach(hook -> hook.count(name, subject));
    }

    @Override
    public void duration(String name, String subject, Duration duration) {
        hooks.forEach(hook -> hook.duration(name, subject, duration));
    }

    @Override
    public Ongoing begin(String name, String subject) {
        return several(hooks, hook -> hook.begin(name, subject));
    }

    private static <T> Ongoing several(List<T> those, Function<T, Ongoing> begin) {
        List<Ongoing> begun =
                those.stream().map(begin).filter(one -> one != Ongoing.NONE).toList();
        return switch (begun.size()) {
            case 0 -> Ongoing.NONE;
            case 1 -> begun.get(0);
            default -> new Several(begun);
        };
    }

    private record Several(List<Ongoing> parts) implements Ongoing {
        @Override
        public void waitsFor(String obstacle, Optional<Holder> holder) {
            parts.forEach(part -> part.waitsFor(obstacle, holder));
        }

        @Override
        public void failed(Throwable why) {
            parts.forEach(part -> part.failed(why));
        }

        @Override
        public void detail(String key, String value) {
            parts.forEach(part -> part.detail(key, value));
        }

        @Override
        public Ongoing next(String name, String subject) {
            return several(parts, part -> part.next(name, subject));
        }

        @Override
        public void end(Outcome outcome) {
            parts.forEach(part -> part.end(outcome));
        }
    }
}
