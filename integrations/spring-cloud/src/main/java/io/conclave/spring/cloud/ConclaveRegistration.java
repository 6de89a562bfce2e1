package io.conclave.spring.cloud;

import io.conclave.discovery.ServiceInstance;
import java.net.URI;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.springframework.cloud.client.serviceregistry.Registration;

/**
 * What this application tells of itself. Its metadata may be changed until it is registered; afterwards the registry
 * changes the status. Thread-safe.
 */
public final class ConclaveRegistration implements Registration {
    private final String applicationId;
    private final Map<String, String> metadata = new TreeMap<>(); // @GuardedBy("this")
    private ServiceInstance instance; // @GuardedBy("this")

    /**
     * A registration of an instance.
     *
     * @param applicationId the id of the application's context, which Spring Cloud ZooKeeper tells as well
     * @param instance where it is reached; its payload is made of the metadata
     * @param metadata what else it tells
     */
    public ConclaveRegistration(String applicationId, ServiceInstance instance, Map<String, String> metadata) {
        this.applicationId = Objects.requireNonNull(applicationId, "applicationId");
        this.instance = Objects.requireNonNull(instance, "instance");
        this.metadata.putAll(metadata);
    }

    /** The instance as it is to be told to others. */
    public synchronized ServiceInstance instance() {
        return instance.toBuilder()
                .payload(InstancePayload.json(applicationId, instance.name(), metadata))
                .build();
    }

    /** The port is known when the web server has started. */
    synchronized void setPort(int port) {
        instance = instance.toBuilder().port(port).build();
    }

    synchronized boolean hasPort() {
        return instance.port().isPresent() || instance.sslPort().isPresent();
    }

    synchronized String status() {
        return metadata.getOrDefault(InstancePayload.STATUS, InstancePayload.UP);
    }

    synchronized void setStatus(String status) {
        metadata.put(InstancePayload.STATUS, status);
    }

    /** Changes an entry of the metadata. */
    public synchronized void putMetadata(String name, String value) {
        metadata.put(name, value);
    }

    private DiscoveredInstance seen() {
        return new DiscoveredInstance(getServiceId(), instance());
    }

    @Override
    public synchronized String getInstanceId() {
        return instance.id();
    }

    @Override
    public synchronized String getServiceId() {
        return instance.name();
    }

    @Override
    public String getHost() {
        return seen().getHost();
    }

    @Override
    public int getPort() {
        return seen().getPort();
    }

    @Override
    public boolean isSecure() {
        return seen().isSecure();
    }

    @Override
    public URI getUri() {
        return seen().getUri();
    }

    @Override
    public String getScheme() {
        return seen().getScheme();
    }

    /** A copy of the metadata. */
    @Override
    public synchronized Map<String, String> getMetadata() {
        return Map.copyOf(metadata);
    }

    @Override
    public synchronized String toString() {
        return "ConclaveRegistration[" + instance + "]";
    }
}
