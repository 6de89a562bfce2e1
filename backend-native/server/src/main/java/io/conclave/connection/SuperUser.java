package io.conclave.connection;

import io.conclave.tree.SessionPassword;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What proves to be the user {@code super}, which may do everything.
 *
 * @param secret the password of a user of that name; empty if there is none
 * @param digest ZooKeeper's digest of a user and a password, {@code user:digest}; empty if there is none
 */
public record SuperUser(Optional<String> secret, Optional<String> digest) {
    /** Nothing does. */
    public static final SuperUser NONE = new SuperUser(Optional.empty(), Optional.empty());

    /**
     * What a command of the operator gives as the password of the session that it opens, where other clients give
     * nothing: it has the secret, which follows as credentials. The session is then opened whatever strangers have.
     */
    public static byte[] sessionPassword(String secret) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update("conclave command".getBytes(StandardCharsets.US_ASCII));
            return Arrays.copyOf(digest.digest(secret.getBytes(StandardCharsets.UTF_8)), SessionPassword.BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java has no SHA-256", e);
        }
    }

    boolean opensWith(byte @Nullable [] password) {
        return password != null
                && secret.map(known -> MessageDigest.isEqual(sessionPassword(known), password))
                        .orElse(false);
    }

    /** Names no secret. */
    @Override
    public String toString() {
        return "SuperUser[secret " + (secret.isPresent() ? "known" : "none") + ", digest "
                + (digest.isPresent() ? "known" : "none") + "]";
    }
}
