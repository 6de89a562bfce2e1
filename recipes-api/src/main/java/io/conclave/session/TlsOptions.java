package io.conclave.session;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;

/**
 * How a client uses TLS: whom it trusts, and which certificate it shows. Immutable.
 *
 * <p>Stores are files in PEM, PKCS12 or JKS, as the endings {@code .pem}, {@code .p12}, {@code .pfx} and {@code .jks}
 * tell. They are read when a coordinator starts, and a file that has changed is read again with the next connection. In
 * PEM, a trust store has the certificates of the authorities, and a key store has the chain of certificates, the own
 * one first, and the private key as PKCS#8.
 *
 * <p>What is not set: without a trust store, the authorities that Java trusts are trusted. Without a key store, no
 * certificate is shown. The certificate of a server must be for the host that the connect string names. TLS 1.3 and 1.2
 * are offered.
 */
public final class TlsOptions {
    private static final TlsOptions DEFAULTS = new TlsOptions(Map.of());
    private static final String SYSTEM_PREFIX = "zookeeper.";
    private static final String PREFIX = "ssl.";
    private static final String SECURE = "client.secure";
    private static final Set<String> TRUTHS = Set.of("hostnameVerification", "crl", "ocsp");
    private static final Set<String> TEXTS = Set.of(
            "keyStore.location",
            "keyStore.password",
            "keyStore.passwordPath",
            "keyStore.type",
            "trustStore.location",
            "trustStore.password",
            "trustStore.passwordPath",
            "trustStore.type",
            "protocol",
            "enabledProtocols",
            "ciphersuites");

    /** Keys of servers, and of what ZooKeeper's client does otherwise. */
    private static final Set<String> WITHOUT_EFFECT = Set.of(
            "clientAuth",
            "clientHostnameVerification",
            "authProvider",
            "handshakeDetectionTimeoutMillis",
            "allowReverseDnsLookup");

    private final Map<String, String> properties;

    private TlsOptions(Map<String, String> properties) {
        this.properties = properties;
    }

    /** Trusts the authorities that Java trusts, and shows no certificate. */
    public static TlsOptions defaults() {
        return DEFAULTS;
    }

    /** Trusts the authorities of a file, and shows no certificate. */
    public static TlsOptions trusting(Path trustStore) {
        return DEFAULTS.trustStore(trustStore);
    }

    /**
     * Reads a file with ZooKeeper's keys, as its command line takes by {@code -client-configuration}: see {@link
     * #fromProperties}. Blocks.
     *
     * @throws IllegalArgumentException if a line breaks a rule; it names the file and the key
     * @throws IOException if the file cannot be read
     */
    public static TlsOptions fromFile(Path file) throws IOException {
        Properties found = new Properties();
        try (InputStream in = Files.newInputStream(file)) {
            found.load(in);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("Invalid TLS options in " + file + ": " + e.getMessage(), e);
        }
        return read(found, " in " + file);
    }

    /**
     * Takes ZooKeeper's keys, with or without {@code zookeeper.} in front: {@code ssl.keyStore.*} and {@code
     * ssl.trustStore.*} with {@code location}, {@code password}, {@code passwordPath} and {@code type}; {@code
     * ssl.hostnameVerification}, {@code ssl.enabledProtocols}, {@code ssl.protocol}, {@code ssl.ciphersuites}, {@code
     * ssl.crl}, {@code ssl.ocsp}. The properties of the system can be given. Keys that are not about TLS of clients are
     * ignored.
     *
     * @throws IllegalArgumentException if a key that begins with {@code ssl.} is unknown, a value breaks the key's
     *     rule, or {@code client.secure} is not true; it names the key
     */
    public static TlsOptions fromProperties(Properties properties) {
        return read(properties, "");
    }

    private static TlsOptions read(Properties properties, String origin) {
        Map<String, String> values = new TreeMap<>();
        for (String key : properties.stringPropertyNames()) {
            String name = key.startsWith(SYSTEM_PREFIX) ? key.substring(SYSTEM_PREFIX.length()) : key;
            String value = properties.getProperty(key).strip();
            if (name.equals(SECURE) && !value.equalsIgnoreCase("true")) {
                throw invalid(key, "it is not true: without TLS, give no TLS options", origin);
            }
            if (name.startsWith(PREFIX) && !name.startsWith("ssl.quorum.")) {
                String word = name.substring(PREFIX.length());
                check(key, word, value, origin);
                String other = values.put(name, value);
                if (other != null && !other.equals(value)) {
                    throw invalid(
                            key, "it is there with and without zookeeper. in front, and the values differ", origin);
                }
            }
        }
        values.keySet().removeIf(name -> WITHOUT_EFFECT.contains(name.substring(PREFIX.length())));
        return new TlsOptions(Map.copyOf(values));
    }

    private static void check(String key, String word, String value, String origin) {
        if (WITHOUT_EFFECT.contains(word)) {
            return;
        }
        if (!TRUTHS.contains(word) && !TEXTS.contains(word)) {
            throw invalid(key, "it is unknown, or not supported", origin);
        }
        if (value.isEmpty()) {
            throw invalid(key, "it has no value", origin);
        }
        if (TRUTHS.contains(word) && !value.equalsIgnoreCase("true") && !value.equalsIgnoreCase("false")) {
            throw invalid(key, "\"" + value + "\" is neither true nor false", origin);
        }
    }

    private static IllegalArgumentException invalid(String key, String rule, String origin) {
        return new IllegalArgumentException("Invalid TLS options" + origin + ": key " + key + ": " + rule);
    }

    private TlsOptions with(String word, String value) {
        Map<String, String> values = new TreeMap<>(properties);
        values.put(PREFIX + word, value);
        return new TlsOptions(Map.copyOf(values));
    }

    private TlsOptions store(String name, Path file) {
        Map<String, String> values = new TreeMap<>(properties);
        values.keySet().removeIf(key -> key.startsWith(PREFIX + name + "."));
        values.put(PREFIX + name + ".location", file.toString());
        return new TlsOptions(Map.copyOf(values));
    }

    /** The file with the authorities that are trusted, and no others: one that needs no password, such as PEM. */
    public TlsOptions trustStore(Path file) {
        return store("trustStore", file);
    }

    /** The file with the authorities that are trusted, and no others. */
    public TlsOptions trustStore(Path file, String password) {
        return store("trustStore", file).with("trustStore.password", password);
    }

    /** The file with the own certificate and its private key, which is not encrypted. */
    public TlsOptions keyStore(Path file) {
        return store("keyStore", file);
    }

    /** The file with the own certificate and its private key, which the password decrypts. */
    public TlsOptions keyStore(Path file, String password) {
        return store("keyStore", file).with("keyStore.password", password);
    }

    /**
     * Whether the certificate of a server must be for the host of the connect string; so by default. Without it, the
     * owner of any certificate that is trusted can pass for the server.
     */
    public TlsOptions verifyHostnames(boolean value) {
        return with("hostnameVerification", Boolean.toString(value));
    }

    /** For backends: ZooKeeper's keys, which begin with {@code ssl.}. There are passwords among the values. */
    public Map<String, String> properties() {
        return properties;
    }

    /** The keys only, since there are passwords among the values. */
    @Override
    public String toString() {
        return "TlsOptions" + new TreeMap<>(properties).keySet();
    }
}
