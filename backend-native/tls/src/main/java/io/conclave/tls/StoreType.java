package io.conclave.tls;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/** The formats of files with keys and certificates. */
public enum StoreType {
    JKS,
    PKCS12,
    /** Certificates, and for a key store also the private key as PKCS#8, plain or encrypted, in one file. */
    PEM;

    /** The type of that name, in upper or lower case; empty if there is none. */
    public static Optional<StoreType> named(String name) {
        for (StoreType type : values()) {
            if (type.name().equals(name.toUpperCase(Locale.ROOT))) {
                return Optional.of(type);
            }
        }
        return Optional.empty();
    }

    /** What the ending of a file's name tells: {@code .jks}, {@code .p12}, {@code .pfx}, {@code .pem}; else empty. */
    public static Optional<StoreType> ofEnding(Path file) {
        String name = file.toString().toLowerCase(Locale.ROOT);
        if (name.endsWith(".jks")) {
            return Optional.of(JKS);
        }
        if (name.endsWith(".p12") || name.endsWith(".pfx")) {
            return Optional.of(PKCS12);
        }
        return name.endsWith(".pem") ? Optional.of(PEM) : Optional.empty();
    }
}
