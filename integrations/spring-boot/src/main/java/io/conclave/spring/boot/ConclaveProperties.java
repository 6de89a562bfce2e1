package io.conclave.spring.boot;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The properties that begin with {@code conclave.}; {@link io.conclave.coordinator.CoordinatorBuilder} says more of
 * each.
 */
@ConfigurationProperties("conclave")
public class ConclaveProperties {
    /**
     * Where to connect to, such as conclave://h1:2181,h2:2181,h3:2181/chroot, zookeeper://h1:2181 or embedded:. There
     * is no default: without it no coordinator is configured.
     */
    private @Nullable String connectString;

    /**
     * How long the start of the application waits for the first connection, and fails without one. If not set, it does
     * not wait: the application starts while the servers are down.
     */
    private @Nullable Duration connectTimeout;

    /** How long the servers keep the session without hearing of this process. */
    private Duration sessionTimeout = Duration.ofSeconds(10);

    /** How long a try waits for the servers' answer. */
    private Duration tryTimeout = Duration.ofSeconds(1);

    /** Path under which all paths of this application lie. It is created if it is missing. */
    private @Nullable String namespace;

    /** Whether all reads of the application are linearizable. */
    private boolean linearizableReads = false;

    /** Whether the client connects to servers of which the ensemble tells, when those of the connect string fail. */
    private boolean followEnsemble = true;

    /** How many requests may be submitted and not yet completed. */
    private int maxQueuedRequests = 100_000;

    /** Generation of fencing tokens on a backend that keeps none itself, such as Apache ZooKeeper. */
    private long generation = 0;

    /** Elections in which this application is a candidate, besides those of @LeaderOnly methods. */
    private List<String> elections = new ArrayList<>();

    private final Digest digest = new Digest();
    private final Sasl sasl = new Sasl();
    private final Tls tls = new Tls();
    private final Config config = new Config();

    public @Nullable String getConnectString() {
        return connectString;
    }

    public void setConnectString(@Nullable String connectString) {
        this.connectString = connectString;
    }

    public @Nullable Duration getConnectTimeout() {
        return connectTimeout;
    }

    public void setConnectTimeout(@Nullable Duration connectTimeout) {
        this.connectTimeout = connectTimeout;
    }

    public Duration getSessionTimeout() {
        return sessionTimeout;
    }

    public void setSessionTimeout(Duration sessionTimeout) {
        this.sessionTimeout = sessionTimeout;
    }

    public Duration getTryTimeout() {
        return tryTimeout;
    }

    public void setTryTimeout(Duration tryTimeout) {
        this.tryTimeout = tryTimeout;
    }

    public @Nullable String getNamespace() {
        return namespace;
    }

    public void setNamespace(@Nullable String namespace) {
        this.namespace = namespace;
    }

    public boolean isLinearizableReads() {
        return linearizableReads;
    }

    public void setLinearizableReads(boolean linearizableReads) {
        this.linearizableReads = linearizableReads;
    }

    public boolean isFollowEnsemble() {
        return followEnsemble;
    }

    public void setFollowEnsemble(boolean followEnsemble) {
        this.followEnsemble = followEnsemble;
    }

    public int getMaxQueuedRequests() {
        return maxQueuedRequests;
    }

    public void setMaxQueuedRequests(int maxQueuedRequests) {
        this.maxQueuedRequests = maxQueuedRequests;
    }

    public long getGeneration() {
        return generation;
    }

    public void setGeneration(long generation) {
        this.generation = generation;
    }

    public List<String> getElections() {
        return elections;
    }

    public void setElections(List<String> elections) {
        this.elections = elections;
    }

    public Digest getDigest() {
        return digest;
    }

    public Sasl getSasl() {
        return sasl;
    }

    public Config getConfig() {
        return config;
    }

    public Tls getTls() {
        return tls;
    }

    /** A user and its password, as ZooKeeper's ACLs of the scheme digest know them. */
    public static class Digest {
        /** User to authenticate as, by the scheme digest. */
        private @Nullable String username;

        /** Password of that user. */
        private @Nullable String password;

        public @Nullable String getUsername() {
            return username;
        }

        public void setUsername(@Nullable String username) {
            this.username = username;
        }

        public @Nullable String getPassword() {
            return password;
        }

        public void setPassword(@Nullable String password) {
            this.password = password;
        }
    }

    /** SASL, either by a user and its password, or by a section of the JAAS file. */
    public static class Sasl {
        /** User to authenticate as, by DIGEST-MD5. */
        private @Nullable String username;

        /** Password of that user. */
        private @Nullable String password;

        /** Section of the JAAS file to authenticate by, for Kerberos say. */
        private @Nullable String section;

        public @Nullable String getUsername() {
            return username;
        }

        public void setUsername(@Nullable String username) {
            this.username = username;
        }

        public @Nullable String getPassword() {
            return password;
        }

        public void setPassword(@Nullable String password) {
            this.password = password;
        }

        public @Nullable String getSection() {
            return section;
        }

        public void setSection(@Nullable String section) {
            this.section = section;
        }
    }

    /** TLS with the servers. Stores are files in PEM, PKCS12 or JKS, as their endings tell. */
    public static class Tls {
        /** Whether to speak TLS with the servers, and nothing else. */
        private @Nullable Boolean enabled;

        /** File with the authorities that are trusted. If not set, those that Java trusts. */
        private @Nullable Path trustStore;

        /** Password of the trust store, if it needs one. */
        private @Nullable String trustStorePassword;

        /** File with the own certificate and its private key. If not set, no certificate is shown. */
        private @Nullable Path keyStore;

        /** Password of the key store, if it needs one. */
        private @Nullable String keyStorePassword;

        /** Whether the certificate of a server must be for the host of the connect string. */
        private boolean verifyHostnames = true;

        public boolean isEnabled() {
            return Boolean.TRUE.equals(enabled);
        }

        public void setEnabled(boolean enabled) {
            this.enabled = enabled;
        }

        boolean saysWhether() {
            return enabled != null;
        }

        public @Nullable Path getTrustStore() {
            return trustStore;
        }

        public void setTrustStore(@Nullable Path trustStore) {
            this.trustStore = trustStore;
        }

        public @Nullable String getTrustStorePassword() {
            return trustStorePassword;
        }

        public void setTrustStorePassword(@Nullable String trustStorePassword) {
            this.trustStorePassword = trustStorePassword;
        }

        public @Nullable Path getKeyStore() {
            return keyStore;
        }

        public void setKeyStore(@Nullable Path keyStore) {
            this.keyStore = keyStore;
        }

        public @Nullable String getKeyStorePassword() {
            return keyStorePassword;
        }

        public void setKeyStorePassword(@Nullable String keyStorePassword) {
            this.keyStorePassword = keyStorePassword;
        }

        public boolean isVerifyHostnames() {
            return verifyHostnames;
        }

        public void setVerifyHostnames(boolean verifyHostnames) {
            this.verifyHostnames = verifyHostnames;
        }
    }

    /** What spring.config.import=conclave: does after the start. */
    public static class Config {
        /** Whether changes of imported properties reach the running application. */
        private boolean refresh = true;

        public boolean isRefresh() {
            return refresh;
        }

        public void setRefresh(boolean refresh) {
            this.refresh = refresh;
        }
    }
}
