package io.conclave.server;

import io.conclave.tls.ClientAuthentication;
import io.conclave.tls.StoreFile;
import io.conclave.tls.StorePassword;
import io.conclave.tls.StoreType;
import io.conclave.tls.TlsException;
import io.conclave.tls.TlsSettings;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
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
            PREFIX + "ocsp",
            PREFIX + "allowReverseDnsLookup");
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
            PREFIX + "clientAuth",
            PREFIX + "handshakeDetectionTimeoutMillis");

    private final Map<String, String> values = new HashMap<>();

    /** Whether it is one of these; of those that begin with {@code ssl.quorum.} none is another's. */
    static boolean has(String name) {
        return name.startsWith(PREFIX) || TRUTHS.contains(name);
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
                    Optional.of(settings(verifiesNames)),
                    dials,
                    both,
                    truth(PREFIX + "clientHostnameVerification", verifiesNames),
                    truth(RELOADS, true));
        } catch (TlsException e) {
            throw new ConfigException(String.valueOf(e.getMessage()), e);
        }
    }

    private TlsSettings settings(boolean verifiesNames) {
        TlsSettings.Builder builder = TlsSettings.builder(PREFIX)
                .clientAuthentication(ClientAuthentication.NEED)
                .verifiesServerNames(verifiesNames)
                .checksCrl(truth(PREFIX + "crl", false))
                .checksOcsp(truth(PREFIX + "ocsp", false));
        store("keyStore").ifPresent(builder::keyStore);
        store("trustStore").ifPresent(builder::trustStore);
        words("enabledProtocols").or(() -> words("protocol")).ifPresent(builder::protocols);
        words("ciphersuites").ifPresent(builder::cipherSuites);
        for (String needed : new String[] {"keyStore.location", "trustStore.location"}) {
            if (!values.containsKey(PREFIX + needed)) {
                throw new ConfigException("the key " + PREFIX + needed + " is missing: " + DIALS + " or " + BOTH
                        + " asks for TLS between members");
            }
        }
        return builder.build();
    }

    private Optional<StoreFile> store(String name) {
        String key = PREFIX + name + ".location";
        String location = values.get(key);
        if (location == null) {
            return Optional.empty();
        }
        Path file = Path.of(location);
        String type = values.get(PREFIX + name + ".type");
        if (type == null) {
            return Optional.of(StoreFile.of(key, file, password(name)));
        }
        StoreType named = StoreType.named(type)
                .orElseThrow(() -> new ConfigException(
                        "key " + PREFIX + name + ".type: \"" + type + "\" is none of JKS, PKCS12 and PEM"));
        return Optional.of(new StoreFile(key, file, named, password(name)));
    }

    private StorePassword password(String name) {
        String file = values.get(PREFIX + name + ".passwordPath");
        String value = values.get(PREFIX + name + ".password");
        if (file != null && !file.isEmpty()) {
            return StorePassword.inFile(Path.of(file));
        }
        return value == null || value.isEmpty() ? StorePassword.none() : StorePassword.of(value);
    }

    private Optional<List<String>> words(String name) {
        return Optional.ofNullable(values.get(PREFIX + name))
                .filter(text -> !text.isBlank())
                .map(text -> Arrays.stream(text.split(",")).map(String::strip).toList());
    }

    private boolean truth(String name, boolean otherwise) {
        String value = values.get(name);
        return value == null ? otherwise : Boolean.parseBoolean(value);
    }
}
