package io.conclave.micrometer;

import io.conclave.error.GrantLostException;
import io.conclave.error.Holder;
import io.conclave.error.LossReason;
import io.conclave.metrics.MetricsHook;
import io.conclave.metrics.Ongoing;
import io.conclave.metrics.Outcome;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Makes observations of waits and holds, and so spans where a tracer is bound to the registry. To be given to {@link
 * io.conclave.coordinator.CoordinatorBuilder#metrics}.
 *
 * <p>A wait is a child of the observation that is current where the application calls, and the hold after it is one of
 * the same. No scope is opened: the call may return on another thread, and what is held is no call. What starts on no
 * call's thread, as a lock of a multi-lock, has no parent. A hold that is lost and a wait that fails are errors; a wait
 * that times out or is given up is none.
 *
 * <p>An observation starts on the thread of the call and stops on the one that serves the session. There handlers of
 * the registry must not block. Thread-safe.
 */
public final class ConclaveObservations implements MetricsHook {
    private final ObservationRegistry registry;
    private final PathNames names;
    private final @Nullable ConclaveObservationConvention convention;

    /** With one name for all paths, and the default convention. */
    public ConclaveObservations(ObservationRegistry registry) {
        this(registry, PathNames.allAlike(), null);
    }

    /** With names for paths, and the default convention. */
    public ConclaveObservations(ObservationRegistry registry, PathNames names) {
        this(registry, names, null);
    }

    /**
     * With names for paths.
     *
     * @param registry {@link ObservationRegistry#NOOP} observes nothing, at no cost
     * @param convention null for the default one, or the registry's own
     */
    public ConclaveObservations(
            ObservationRegistry registry, PathNames names, @Nullable ConclaveObservationConvention convention) {
        this.registry = Objects.requireNonNull(registry, "registry");
        this.names = Objects.requireNonNull(names, "names");
        this.convention = convention;
    }

    @Override
    public Ongoing begin(String name, String subject) {
        return registry.isNoop() ? Ongoing.NONE : started(name, subject, registry.getCurrentObservation());
    }

    private Ongoing started(String name, String subject, @Nullable Observation parent) {
        boolean isHold = name.endsWith(".held") || name.endsWith(".inside");
        ConclaveObservationContext context =
                new ConclaveObservationContext(isHold, recipeOf(name), subject, names.of(subject));
        ConclaveObservationDocumentation kind =
                isHold ? ConclaveObservationDocumentation.HOLD : ConclaveObservationDocumentation.WAIT;
        Observation observation =
                kind.observation(convention, DefaultConclaveObservationConvention.INSTANCE, () -> context, registry);
        if (parent != null) {
            observation.parentObservation(parent);
        }
        return new Observed(observation.start(), context, parent);
    }

    /** {@code lock} of {@code lock.wait}; but {@code election.campaign} is a name by itself. */
    private static String recipeOf(String name) {
        int dot = name.lastIndexOf('.');
        boolean isPlain = name.endsWith(".wait") || name.endsWith(".held");
        return isPlain ? name.substring(0, dot) : name;
    }

    private final class Observed implements Ongoing {
        private final Observation observation;
        private final ConclaveObservationContext context;
        private final @Nullable Observation parent;

        Observed(Observation observation, ConclaveObservationContext context, @Nullable Observation parent) {
            this.observation = observation;
            this.context = context;
            this.parent = parent;
        }

        @Override
        public void waitsFor(String obstacle, Optional<Holder> holder) {
            context.waitsFor(obstacle, holder);
            observation.event(
                    Observation.Event.of(ConclaveObservationDocumentation.Events.OBSTACLE.getName(), obstacle));
        }

        @Override
        public void detail(String key, String value) {
            context.addDetail(key, value);
        }

        @Override
        public void failed(Throwable why) {
            context.put(Throwable.class, why);
        }

        @Override
        public Ongoing next(String name, String subject) {
            return started(name, subject, parent);
        }

        @Override
        public void end(Outcome outcome) {
            context.end(outcome);
            errorOf(outcome).ifPresent(observation::error);
            observation.stop();
        }

        private Optional<Throwable> errorOf(Outcome outcome) {
            if (outcome != Outcome.LOST && outcome != Outcome.FAILED) {
                return Optional.empty();
            }
            Throwable failure = context.get(Throwable.class);
            return Optional.ofNullable(failure).or(() -> context.detail(Ongoing.REASON)
                    .map(LossReason::valueOf)
                    .map(reason -> new GrantLostException(
                            reason, context.path(), context.path() + " is no longer held: " + reason)));
        }
    }
}
