package io.conclave.session;

import io.conclave.node.Bytes;
import java.util.Objects;

/**
 * Proof of an identity, sent to the server on every connection.
 *
 * @param scheme how it is proven, such as {@code digest}
 * @param proof in the words of the scheme; for digest {@code user:password}, for sasl made by the
 *     methods below
 */
public record Authentication(String scheme, Bytes proof) {
    /** The scheme of SASL. */
    public static final String SASL = "sasl";

    /** The first word of the proof of {@link #saslDigestMd5}. */
    public static final String DIGEST_MD5 = "DIGEST-MD5";

    /** The first word of the proof of {@link #saslSection}. */
    public static final String SECTION = "JAAS";

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

    /**
     * A user and its password.
     *
     * @throws IllegalArgumentException if the user has a colon in its name: a server would take what follows for the
     *     beginning of the password, and so prove another user
     */
    public static Authentication digest(String user, String password) {
        Objects.requireNonNull(password, "password");
        if (user.indexOf(':') >= 0) {
            throw new IllegalArgumentException("Invalid user \"" + user + "\": it must not have a colon");
        }
        return new Authentication("digest", Bytes.ofText(user + ":" + password));
    }

    /**
     * A user and its password, proved by DIGEST-MD5 of SASL, which does not send the password. It is proved on every
     * connection before anything else. A coordinator takes one authentication of SASL.
     *
     * @throws IllegalArgumentException if the user has a NUL in its name
     */
    public static Authentication saslDigestMd5(String user, String password) {
        Objects.requireNonNull(password, "password");
        return new Authentication(SASL, Bytes.ofText(DIGEST_MD5 + "\0" + withoutNul(user) + "\0" + password));
    }

    /**
     * What a section of the JAAS file (java.security.auth.login.config) says, for SASL: a login at Kerberos, which is
     * made anew for every connection, or the user and the password of ZooKeeper's DigestLoginModule, whose class is not
     * needed. The server is the principal {@code zookeeper/host}, with the host of the connect string.
     *
     * @throws IllegalArgumentException if the section has a NUL in its name
     */
    public static Authentication saslSection(String section) {
        return new Authentication(SASL, Bytes.ofText(SECTION + "\0" + withoutNul(section)));
    }

    private static String withoutNul(String name) {
        if (name.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("Invalid name: it must not have a NUL");
        }
        return name;
    }

    /** Names the scheme only. */
    @Override
    public String toString() {
        return "Authentication[" + scheme + "]";
    }
}
