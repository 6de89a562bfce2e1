package io.conclave.session;

import io.conclave.node.Bytes;
import java.util.Objects;

/**
 * Proof of an identity, sent to the server on every connection.
 *
 * @param scheme how it is proven, such as {@code digest}
 * @param proof in the words of the scheme; for digest {@code user:password}
 */
public record Authentication(String scheme, Bytes proof) {
    /** Rejects nulls. */
    public Authentication {
        Objects.requireNonNull(scheme, "scheme");
        Objects.requireNonNull(proof, "proof");
    }

    /** With a copy of these credentials. */
    public Authentication(String scheme, byte[] credentials) {
        this(scheme, Bytes.copyOf(credentials));
    }

    /** The credentials: a copy with each call. */
    public byte[] credentials() {
        return proof.toArray();
    }

    /** A user and its password. */
    public static Authentication digest(String user, String password) {
        return new Authentication("digest", Bytes.ofText(user + ":" + password));
    }

    /** Names the scheme only. */
    @Override
    public String toString() {
        return "Authentication[" + scheme + "]";
    }
}
