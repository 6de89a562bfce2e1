package io.conclave.spring.cloud;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.client.discovery.event.InstancePreRegisteredEvent;
import org.springframework.cloud.client.discovery.event.InstanceRegisteredEvent;
import org.springframework.cloud.client.serviceregistry.AutoServiceRegistration;
import org.springframework.cloud.client.serviceregistry.RegistrationLifecycle;
import org.springframework.context.ApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Registers this application after its web server has started, and deregisters it before that is stopped, so that
 * clients do not come to a server that is going.
 *
 * <p>It does not extend Spring Cloud's {@code AbstractAutoServiceRegistration}, whose constructors and event have
 * changed from 4.3 to 5.0, and which deregisters when the web server has stopped.
 */
final class ConclaveAutoRegistration implements AutoServiceRegistration, SmartLifecycle {
    private static final int BEFORE_THE_WEB_SERVER_STOPS = DEFAULT_PHASE - 1000;
    private static final String MANAGEMENT_PORT = "management.port"; // its name in Spring Cloud's other registries
    private static final String REGISTER_MANAGEMENT =
            "spring.cloud.service-registry.auto-registration.register-management";

    private final ApplicationContext context;
    private final ConclaveServiceRegistry registry;
    private final ConclaveRegistration registration;
    private final ConclaveDiscoveryProperties properties;
    private final List<RegistrationLifecycle<ConclaveRegistration>> lifecycles;
    private volatile boolean running;

    ConclaveAutoRegistration(
            ApplicationContext context,
            ConclaveServiceRegistry registry,
            ConclaveRegistration registration,
            ConclaveDiscoveryProperties properties,
            List<RegistrationLifecycle<ConclaveRegistration>> lifecycles) {
        this.context = context;
        this.registry = registry;
        this.registration = registration;
        this.properties = properties;
        this.lifecycles = lifecycles;
    }

    @Override
    public void start() {
        Integer webServer = context.getEnvironment().getProperty("local.server.port", Integer.class);
        if (webServer != null && properties.getInstancePort() == null) {
            registration.setPort(webServer);
        }
        if (!registration.hasPort()) {
            return; // nothing that others could call
        }
        tellManagementPort(webServer);
        context.publishEvent(new InstancePreRegisteredEvent(this, registration));
        lifecycles.forEach(lifecycle -> lifecycle.postProcessBeforeStartRegister(registration));
        registry.register(registration);
        lifecycles.forEach(lifecycle -> lifecycle.postProcessAfterStartRegister(registration));
        running = true;
        context.publishEvent(new InstanceRegisteredEvent<>(this, properties));
    }

    /** Where the actuator is reached, if that is at a port of its own; monitors look for it in the metadata. */
    private void tellManagementPort(@Nullable Integer webServer) {
        Integer management = context.getEnvironment().getProperty("local.management.port", Integer.class);
        boolean isWanted = context.getEnvironment().getProperty(REGISTER_MANAGEMENT, Boolean.class, true)
                && !properties.getMetadata().containsKey(MANAGEMENT_PORT);
        if (isWanted && management != null && !management.equals(webServer)) {
            registration.putMetadata(MANAGEMENT_PORT, management.toString());
        }
    }

    @Override
    public void stop() {
        running = false;
        lifecycles.forEach(lifecycle -> lifecycle.postProcessBeforeStopRegister(registration));
        registry.deregister(registration);
        lifecycles.forEach(lifecycle -> lifecycle.postProcessAfterStopRegister(registration));
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return BEFORE_THE_WEB_SERVER_STOPS;
    }

    @Override
    public String toString() {
        return "ConclaveAutoRegistration[" + Objects.toString(registration) + "]";
    }
}
