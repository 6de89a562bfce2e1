package io.conclave.server;

import io.conclave.tls.ClientAuthentication;
import io.conclave.tls.TlsException;
import io.conclave.tls.TlsProperties;
import io.conclave.tls.TlsSettings;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The lines of a configuration file about TLS for clients. Not thread-safe. */
final class TlsKeys {
    private static final Logger LOG = LoggerFactory.getLogger(TlsKeys.class);
    private static final String PREFIX = "ssl.";
    private static final String X509_PROVIDER = "x509";

    private static final Map<String, ValueRule> KEYS = Map.ofEntries(
            Map.entry("secureClientPort", ValueRule.PORT),
            Map.entry("secureClientPortAddress", ValueRule.ANYTHING),
            Map.entry("client.portUnification", ValueRule.TRUTH),
            Map.entry("client.certReload", ValueRule.TRUTH),
            Map.entry("X509AuthenticationProvider.superUser", ValueRule.ANYTHING),
            Map.entry("ssl.keyStore.location", ValueRule.ANYTHING),
            Map.entry("ssl.keyStore.password", ValueRule.ANYTHING),
            Map.entry("ssl.keyStore.passwordPath", ValueRule.ANYTHING),
            Map.entry("ssl.keyStore.type", ValueRule.ANYTHING),
            Map.entry("ssl.trustStore.location", ValueRule.ANYTHING),
            Map.entry("ssl.trustStore.password", ValueRule.ANYTHING),
            Map.entry("ssl.trustStore.passwordPath", ValueRule.ANYTHING),
            Map.entry("ssl.trustStore.type", ValueRule.ANYTHING),
            Map.entry("ssl.clientAuth", ValueRule.ANYTHING),
            Map.entry("ssl.protocol", ValueRule.ANYTHING),
            Map.entry("ssl.enabledProtocols", ValueRule.ANYTHING),
            Map.entry("ssl.ciphersuites", ValueRule.ANYTHING),
            Map.entry("ssl.hostnameVerification", ValueRule.TRUTH),
            Map.entry("ssl.clientHostnameVerification", ValueRule.TRUTH),
            Map.entry("ssl.crl", ValueRule.TRUTH),
            Map.entry("ssl.ocsp", ValueRule.TRUTH),
            Map.entry("ssl.authProvider", ValueRule.ANYTHING));

    private final Map<String, String> values = new TreeMap<>();

    static boolean has(String name) {
        return KEYS.containsKey(name);
    }

    /**
     * Takes a line.
     *
     * @throws ConfigException if the value is not one that the key can have
     */
    void set(String name, String key, String value) {
        ValueRule rule = KEYS.get(name);
        if (rule == null) {
            throw new IllegalArgumentException(name);
        }
        ValueRule.requireFilled(key, value);
        rule.check(key, value);
        if (name.equals("ssl.authProvider") && !value.equals(X509_PROVIDER)) {
            throw new ConfigException("key " + key + ": \"" + value + "\" is not supported, only " + X509_PROVIDER
                    + " is; remove the line");
        }
        values.put(name, value);
    }

    /**
     * What the lines say together.
     *
     * @return empty if no port has TLS
     * @throws ConfigException if they contradict each other or one of them is missing
     */
    Optional<ClientTls> read(Optional<Integer> clientPort, Duration handshakeTimeout) {
        Optional<Integer> port = get("secureClientPort").map(Integer::valueOf);
        boolean unified = truth("client.portUnification", false);
        if (port.isEmpty() && values.containsKey("secureClientPortAddress")) {
            throw new ConfigException("secureClientPortAddress is set, and secureClientPort, whose address it would be,"
                    + " is not; add that or remove the line");
        }
        if (port.isEmpty() && !unified) {
            if (!values.isEmpty()) {
                LOG.warn(
                        "The keys {} have no effect: neither secureClientPort nor client.portUnification asks for TLS",
                        values.keySet());
            }
            return Optional.empty();
        }
        if (port.isPresent() && port.get() != 0 && port.equals(clientPort)) {
            throw new ConfigException("clientPort and secureClientPort are both " + port.get()
                    + "; client.portUnification=true takes clients with TLS and without it on one port");
        }
        try {
            return Optional.of(new ClientTls(
                    port,
                    get("secureClientPortAddress"),
                    unified,
                    truth("client.certReload", false),
                    get("X509AuthenticationProvider.superUser"),
                    settings(handshakeTimeout)));
        } catch (TlsException e) {
            throw new ConfigException(String.valueOf(e.getMessage()), e);
        }
    }

    private TlsSettings settings(Duration handshakeTimeout) {
        TlsSettings.Builder builder = new TlsProperties(PREFIX, values)
                .settings()
                .handshakeTimeout(handshakeTimeout)
                .verifiesClientAddresses(
                        truth("ssl.hostnameVerification", true) && truth("ssl.clientHostnameVerification", false));
        get("ssl.clientAuth").map(TlsKeys::clientAuthentication).ifPresent(builder::clientAuthentication);
        return builder.build();
    }

    private static ClientAuthentication clientAuthentication(String value) {
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "none" -> ClientAuthentication.NONE;
            case "want" -> ClientAuthentication.WANT;
            case "need" -> ClientAuthentication.NEED;
            default ->
                throw new ConfigException("key ssl.clientAuth: \"" + value + "\" is none of none, want and need");
        };
    }

    private boolean truth(String name, boolean otherwise) {
        return get(name).map(Boolean::parseBoolean).orElse(otherwise);
    }

    private Optional<String> get(String name) {
        return Optional.ofNullable(values.get(name));
    }
}
