package io.conclave.tls;

import java.nio.file.Path;

/**
 * A file with a key and its certificates, or with certificates that are trusted.
 *
 * @param key what names it in errors, such as {@code ssl.keyStore.location}
 */
public record StoreFile(String key, Path location, StoreType type, StorePassword password) {
    /**
     * A store whose type its name tells.
     *
     * @throws TlsException if the name tells none
     */
    public static StoreFile of(String key, Path location, StorePassword password) {
        StoreType type = StoreType.ofEnding(location)
                .orElseThrow(() -> new TlsException(key + " " + location
                        + ": its type is not known: set it to JKS, PKCS12 or PEM, or end the name with .jks, .p12, .pfx"
                        + " or .pem"));
        return new StoreFile(key, location, type, password);
    }

    TlsException error(String reason) {
        return new TlsException(this + ": " + reason);
    }

    TlsException error(String reason, Throwable cause) {
        return new TlsException(this + ": " + reason, cause);
    }

    @Override
    public String toString() {
        return key + " " + location;
    }
}
