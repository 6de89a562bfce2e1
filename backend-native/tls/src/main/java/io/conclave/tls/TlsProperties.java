package io.conclave.tls;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * ZooKeeper's keys of TLS, which are the same for clients, for the port of clients and for that of members, but for
 * what they begin with: stores, versions, cipher suites, revocations.
 */
public final class TlsProperties {
    private final String prefix;
    private final Map<String, String> values;

    /**
     * Properties whose values were not looked at yet.
     *
     * @param prefix what the keys begin with: {@code ssl.} or {@code ssl.quorum.}
     * @param values by their keys, with the prefix; others are ignored
     */
    public TlsProperties(String prefix, Map<String, String> values) {
        this.prefix = prefix;
        this.values = Map.copyOf(values);
    }

    /**
     * Settings with what the keys say that are the same everywhere.
     *
     * @throws TlsException if a value breaks the rule of its key, naming both
     */
    public TlsSettings.Builder settings() {
        TlsSettings.Builder builder = TlsSettings.builder(prefix)
                .verifiesServerNames(isTrue("hostnameVerification", true))
                .checksCrl(isTrue("crl", false))
                .checksOcsp(isTrue("ocsp", false));
        store("keyStore").ifPresent(builder::keyStore);
        store("trustStore").ifPresent(builder::trustStore);
        words("enabledProtocols").or(() -> words("protocol")).ifPresent(builder::protocols);
        words("ciphersuites").ifPresent(builder::cipherSuites);
        return builder;
    }

    private boolean isTrue(String name, boolean otherwise) {
        return value(name).map(Boolean::parseBoolean).orElse(otherwise);
    }

    private Optional<StoreFile> store(String name) {
        Optional<String> location = value(name + ".location");
        if (location.isEmpty()) {
            return Optional.empty();
        }
        String key = prefix + name + ".location";
        Path file = path(name + ".location", location.get());
        Optional<String> type = value(name + ".type");
        return Optional.of(
                type.isPresent()
                        ? new StoreFile(key, file, type(name, type.get()), password(name))
                        : StoreFile.of(key, file, password(name)));
    }

    private StoreType type(String name, String value) {
        return StoreType.named(value)
                .orElseThrow(() -> new TlsException(
                        "key " + prefix + name + ".type: \"" + value + "\" is none of JKS, PKCS12 and PEM"));
    }

    private StorePassword password(String name) {
        String inFile = name + ".passwordPath";
        return value(inFile)
                .map(file -> StorePassword.inFile(path(inFile, file)))
                .or(() -> value(name + ".password").map(StorePassword::of))
                .orElse(StorePassword.none());
    }

    private Path path(String name, String value) {
        try {
            return Path.of(value);
        } catch (InvalidPathException e) {
            throw new TlsException("key " + prefix + name + ": it is no path: " + Reasons.of(e), e);
        }
    }

    private Optional<List<String>> words(String name) {
        return value(name)
                .map(text ->
                        Arrays.stream(text.split(",", -1)).map(String::strip).toList());
    }

    private Optional<String> value(String name) {
        return Optional.ofNullable(values.get(prefix + name)).filter(text -> !text.isBlank());
    }
}
