package io.conclave.micrometer;

import io.conclave.coordinator.Coordinator;
import io.conclave.session.SessionState;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Locale;
import java.util.Objects;

/**
 * A gauge for each state of a coordinator's session, {@code conclave.session.state} with the tag {@code state}: 1 for
 * the present one, 0 for the others. Reading them never blocks. They hold a reference to the coordinator, also after it
 * was closed.
 */
public final class CoordinatorMetrics implements MeterBinder {
    private final Coordinator coordinator;
    private final Tags tags;

    /** Without further tags: for an application's only coordinator. */
    public CoordinatorMetrics(Coordinator coordinator) {
        this(coordinator, Tags.empty());
    }

    /** @param tags that tell it from other coordinators */
    public CoordinatorMetrics(Coordinator coordinator, Iterable<Tag> tags) {
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.tags = Tags.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        for (SessionState state : SessionState.values()) {
            Gauge.builder("conclave.session.state", coordinator, one -> one.state() == state ? 1 : 0)
                    .description("1 for the present state of the session")
                    .tags(tags.and("state", state.name().toLowerCase(Locale.ROOT)))
                    .strongReference(true)
                    .register(registry);
        }
    }
}
