package io.conclave.server;

import io.conclave.tls.ClientAuthentication;
import io.conclave.tls.TlsException;
import io.conclave.tls.TlsProperties;
import io.conclave.tls.TlsSettings;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The lines of a configuration file about TLS between members, with ZooKeeper's keys. Not thread-safe. */
final class PeerTlsKeys {
    private static final Logger LOG = LoggerFactory.getLogger(PeerTlsKeys.class);
    private static final String PREFIX = "ssl.quorum.";
    private static final String DIALS = "sslQuorum";
    private static final String BOTH = "portUnification";
    private static final String RELOADS = "sslQuorumReloadCertFiles";
    private static final Set<String> TRUTHS = Set.of(
            DIALS,
            BOTH,
            RELOADS,
            PREFIX + "hostnameVerification",
            PREFIX + "clientHostnameVerification",
            PREFIX + "crl",
            PREFIX + "ocsp");
    private static final Set<String> TEXTS = Set.of(
            PREFIX + "keyStore.location",
            PREFIX + "keyStore.password",
            PREFIX + "keyStore.passwordPath",
            PREFIX + "keyStore.type",
            PREFIX + "trustStore.location",
            PREFIX + "trustStore.password",
            PREFIX + "trustStore.passwordPath",
            PREFIX + "trustStore.type",
            PREFIX + "protocol",
            PREFIX + "enabledProtocols",
            PREFIX + "ciphersuites",
            PREFIX + "clientAuth");

    /** ZooKeeper's, which {@link ZooKeeperKeys} knows. */
    private static final Set<String> UNUSED =
            Set.of(PREFIX + "allowReverseDnsLookup", PREFIX + "handshakeDetectionTimeoutMillis");

    private final Map<String, String> values = new HashMap<>();

    /** Whether it is one of these: also what begins with {@code ssl.quorum.} and nobody knows. */
    static boolean has(String name) {
        return (name.startsWith(PREFIX) && !UNUSED.contains(name)) || TRUTHS.contains(name);
    }

    /** Takes a line. */
    void take(String name, String key, String value) {
        if (!TRUTHS.contains(name) && !TEXTS.contains(name)) {
            throw new ConfigException("key " + key + " is unknown, or not supported");
        }
        if (TRUTHS.contains(name)) {
            ValueRule.TRUTH.check(key, value);
        }
        if (name.equals(PREFIX + "clientAuth") && !value.equalsIgnoreCase("need")) {
            throw new ConfigException("key " + key + ": \"" + value + "\" is not supported, only need is: members show"
                    + " each other a certificate");
        }
        values.put(name, value);
    }

    /** What the lines say together. */
    EnsembleTls read() {
        boolean dials = truth(DIALS, false);
        boolean both = truth(BOTH, false);
        if (!dials && !both) {
            if (values.keySet().stream().anyMatch(name -> name.startsWith(PREFIX))) {
                LOG.warn("Members use no TLS: neither {} nor {} is true", DIALS, BOTH);
            }
            return EnsembleTls.NONE;
        }
        boolean verifiesNames = truth(PREFIX + "hostnameVerification", true);
        try {
            return new EnsembleTls(
                    Optional.of(settings()),
                    dials,
                    both,
                    truth(PREFIX + "clientHostnameVerification", verifiesNames),
                    truth(RELOADS, true));
        } catch (TlsException e) {
            throw new ConfigException(String.valueOf(e.getMessage()), e);
        }
    }

    private TlsSettings settings() {
        TlsSettings settings = new TlsProperties(PREFIX, values)
                .settings()
                .clientAuthentication(ClientAuthentication.NEED)
                .build();
        for (String needed : new String[] {"keyStore.location", "trustStore.location"}) {
            if (!values.containsKey(PREFIX + needed)) {
                throw new ConfigException("the key " + PREFIX + needed + " is missing: " + DIALS + " or " + BOTH
                        + " asks for TLS between members");
            }
        }
        return settings;
    }

    private boolean truth(String name, boolean otherwise) {
        String value = values.get(name);
        return value == null ? otherwise : Boolean.parseBoolean(value);
    }
}
