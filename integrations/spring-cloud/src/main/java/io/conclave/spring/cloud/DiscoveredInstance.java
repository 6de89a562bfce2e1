package io.conclave.spring.cloud;

import io.conclave.discovery.ServiceInstance;
import java.net.URI;
import java.util.Map;

/** An instance of a service as Spring Cloud sees it. */
final class DiscoveredInstance implements org.springframework.cloud.client.ServiceInstance {
    private final String serviceId;
    private final ServiceInstance instance;
    private final Map<String, String> metadata;

    DiscoveredInstance(String serviceId, ServiceInstance instance) {
        this.serviceId = serviceId;
        this.instance = instance;
        this.metadata = InstancePayload.metadata(instance.payload());
    }

    /** Whether clients may choose it. */
    boolean isUp() {
        return instance.isEnabled()
                && InstancePayload.UP.equals(metadata.getOrDefault(InstancePayload.STATUS, InstancePayload.UP));
    }

    @Override
    public String getInstanceId() {
        return instance.id();
    }

    @Override
    public String getServiceId() {
        return serviceId;
    }

    @Override
    public String getHost() {
        return instance.address();
    }

    @Override
    public int getPort() {
        return instance.sslPort().orElse(instance.port().orElse(0));
    }

    @Override
    public boolean isSecure() {
        return instance.sslPort().isPresent();
    }

    @Override
    public URI getUri() {
        return instance.uri()
                .filter(uri -> !uri.isEmpty())
                .map(URI::create)
                .orElseGet(() -> URI.create(getScheme() + "://" + getHost() + (getPort() > 0 ? ":" + getPort() : "")));
    }

    @Override
    public String getScheme() {
        return isSecure() ? "https" : "http";
    }

    @Override
    public Map<String, String> getMetadata() {
        return metadata;
    }

    @Override
    public String toString() {
        return instance.toString();
    }
}
