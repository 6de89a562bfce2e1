package io.conclave.spring.cloud;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/** The properties that begin with {@code conclave.discovery.}; they have the names of Spring Cloud ZooKeeper's. */
@ConfigurationProperties("conclave.discovery")
public class ConclaveDiscoveryProperties {
    /** Whether services are discovered and this one is registered, if there is a coordinator. */
    private boolean enabled = true;

    /** Path below which the services are. */
    private String root = "/services";

    /** Whether this application registers itself. */
    private boolean register = true;

    /** Id of this instance among those of its service. If not set, a random one. */
    private @Nullable String instanceId;

    /** Host that others reach this instance at. If not set, that of the first network interface that is no loopback. */
    private @Nullable String instanceHost;

    /** Address that others reach this instance at, if it is preferred. If not set, that of the same interface. */
    private @Nullable String instanceIpAddress;

    /** Whether to tell the address instead of the host, also instead of one that is set. */
    private boolean preferIpAddress = false;

    /** Port that others reach this instance at. If not set, that of the web server. */
    private @Nullable Integer instancePort;

    /** Port for TLS that others reach this instance at. If not set, none. */
    private @Nullable Integer instanceSslPort;

    /** How the URI of this instance is made. */
    private String uriSpec = "{scheme}://{address}:{port}";

    /** What else this instance tells of itself. */
    private Map<String, String> metadata = new LinkedHashMap<>();

    /** Status that this instance has at first. Clients choose those that are UP. */
    private String initialStatus = InstancePayload.UP;

    /** How long the first question for a service waits until its instances are known. */
    private Duration loadTimeout = Duration.ofSeconds(5);

    /** Order of this client among several discovery clients. */
    private int order = 0;

    public boolean isEnabled() {
        return enabled;
    }

    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    public String getRoot() {
        return root;
    }

    public void setRoot(String root) {
        this.root = root;
    }

    public boolean isRegister() {
        return register;
    }

    public void setRegister(boolean register) {
        this.register = register;
    }

    public @Nullable String getInstanceId() {
        return instanceId;
    }

    public void setInstanceId(@Nullable String instanceId) {
        this.instanceId = instanceId;
    }

    public @Nullable String getInstanceHost() {
        return instanceHost;
    }

    public void setInstanceHost(@Nullable String instanceHost) {
        this.instanceHost = instanceHost;
    }

    public @Nullable String getInstanceIpAddress() {
        return instanceIpAddress;
    }

    public void setInstanceIpAddress(@Nullable String instanceIpAddress) {
        this.instanceIpAddress = instanceIpAddress;
    }

    public boolean isPreferIpAddress() {
        return preferIpAddress;
    }

    public void setPreferIpAddress(boolean preferIpAddress) {
        this.preferIpAddress = preferIpAddress;
    }

    public @Nullable Integer getInstancePort() {
        return instancePort;
    }

    public void setInstancePort(@Nullable Integer instancePort) {
        this.instancePort = instancePort;
    }

    public @Nullable Integer getInstanceSslPort() {
        return instanceSslPort;
    }

    public void setInstanceSslPort(@Nullable Integer instanceSslPort) {
        this.instanceSslPort = instanceSslPort;
    }

    public String getUriSpec() {
        return uriSpec;
    }

    public void setUriSpec(String uriSpec) {
        this.uriSpec = uriSpec;
    }

    public Map<String, String> getMetadata() {
        return metadata;
    }

    public void setMetadata(Map<String, String> metadata) {
        this.metadata = metadata;
    }

    public String getInitialStatus() {
        return initialStatus;
    }

    public void setInitialStatus(String initialStatus) {
        this.initialStatus = initialStatus;
    }

    public Duration getLoadTimeout() {
        return loadTimeout;
    }

    public void setLoadTimeout(Duration loadTimeout) {
        this.loadTimeout = loadTimeout;
    }

    /** The load timeout. With none, or a negative one, each first question would fail before the store can answer. */
    Duration positiveLoadTimeout() {
        if (loadTimeout.isNegative() || loadTimeout.isZero()) {
            throw new InvalidConfigurationPropertyValueException(
                    "conclave.discovery.load-timeout", loadTimeout, "must be positive");
        }
        return loadTimeout;
    }

    public int getOrder() {
        return order;
    }

    public void setOrder(int order) {
        this.order = order;
    }
}
