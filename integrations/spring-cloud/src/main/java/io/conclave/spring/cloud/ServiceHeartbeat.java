package io.conclave.spring.cloud;

import io.conclave.coordinator.Coordinator;
import io.conclave.mirror.Mirror;
import io.conclave.mirror.MirrorScope;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.client.discovery.event.HeartbeatEvent;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;

/**
 * Publishes a {@link HeartbeatEvent} when the discovery clients would answer in another way than before: a service has
 * come or gone, or an instance of a service that was asked for has come, gone or changed. Gateways and monitors ask
 * again then. There is one at the start, too, and one when a service is first asked for.
 *
 * <p>The change is in the cache that the clients answer from before the event is published, so the listener that asks
 * is told of it. The value is another one each time. Events begin when the application has started, and end before
 * anything else of it stops. Listeners are called on listener threads of the coordinator, and may block.
 */
final class ServiceHeartbeat implements SmartLifecycle {
    private final Coordinator coordinator;
    private final KnownServices services;
    private final ApplicationEventPublisher events;
    private final AtomicLong changes = new AtomicLong();
    private volatile @Nullable Mirror names;

    ServiceHeartbeat(Coordinator coordinator, KnownServices services, ApplicationEventPublisher events) {
        this.coordinator = coordinator;
        this.services = services;
        this.events = events;
        services.onChange(this::beat);
    }

    private void beat() {
        if (isRunning()) {
            events.publishEvent(new HeartbeatEvent(this, changes.incrementAndGet()));
        }
    }

    @Override
    public void start() {
        Mirror started = Mirror.of(coordinator, services.discovery().base(), MirrorScope.CHILDREN);
        names = started;
        started.listen(changed -> beat());
    }

    @Override
    public void stop() {
        Mirror stopped = names;
        names = null;
        if (stopped != null) {
            stopped.close();
        }
    }

    @Override
    public boolean isRunning() {
        return names != null;
    }
}
