package io.conclave.spi;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * Proof of an identity, sent to the server on every connection.
 *
 * @param scheme how it is proven, such as {@code digest}
 * @param credentials in the words of the scheme; for digest {@code user:password}
 */
public record Authentication(String scheme, byte[] credentials) {
    /** Rejects nulls. */
    public Authentication {
        Objects.requireNonNull(scheme, "scheme");
        Objects.requireNonNull(credentials, "credentials");
    }

    /** A user and his password. */
    public static Authentication digest(String user, String password) {
        return new Authentication("digest", (user + ":" + password).getBytes(StandardCharsets.UTF_8));
    }

    /** Names the scheme only. */
    @Override
    public String toString() {
        return "Authentication[" + scheme + "]";
    }
}
