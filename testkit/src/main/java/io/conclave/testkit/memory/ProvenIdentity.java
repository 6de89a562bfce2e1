package io.conclave.testkit.memory;

import io.conclave.session.Authentication;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/**
 * A proven identity of a session.
 *
 * @param scheme how it was proven
 * @param id of digest: the user, a colon, and the base64 of the SHA-1 of {@code user:password}
 */
record ProvenIdentity(String scheme, String id) {
    static ProvenIdentity of(Authentication authentication) {
        if (!authentication.scheme().equals("digest")) {
            throw new IllegalArgumentException("Invalid authentication scheme \"" + authentication.scheme()
                    + "\": the backend in memory knows digest only");
        }
        String text = new String(authentication.credentials(), StandardCharsets.UTF_8);
        int colon = text.indexOf(':');
        if (colon < 0) {
            throw new IllegalArgumentException("Invalid digest credentials: they must have the form user:password");
        }
        return new ProvenIdentity("digest", text.substring(0, colon) + ":" + sha1(authentication.credentials()));
    }

    private static String sha1(byte[] bytes) {
        try {
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("SHA-1").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has SHA-1", e);
        }
    }
}
