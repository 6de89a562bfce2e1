package io.conclave.connection;

import io.conclave.tree.AuthId;
import io.conclave.tree.IdScheme;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/**
 * The hash of users and passwords that the scheme digest has in its ids. Immutable.
 *
 * @param algorithm its name in Java
 */
public record DigestHash(String algorithm) {
    /** ZooKeeper's, unless it is configured. */
    public static final DigestHash SHA1 = new DigestHash("SHA1");

    /** @throws IllegalArgumentException if this Java does not have it */
    public DigestHash {
        try {
            MessageDigest.getInstance(algorithm);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalArgumentException("this Java has no hash \"" + algorithm + "\"", e);
        }
    }

    /** How many bytes it has. */
    public int bytes() {
        return digest().digest(new byte[0]).length;
    }

    /** The id of {@code user:password}: the user, and the Base64 form of the hash of both. */
    public AuthId idOf(String userAndPassword) {
        String user = userAndPassword.split(":", 2)[0];
        byte[] hash = digest().digest(userAndPassword.getBytes(StandardCharsets.UTF_8));
        return new AuthId(
                IdScheme.DIGEST.word(), user + ":" + Base64.getEncoder().encodeToString(hash));
    }

    private MessageDigest digest() {
        try {
            return MessageDigest.getInstance(algorithm);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Java had it before: " + algorithm, e);
        }
    }
}
