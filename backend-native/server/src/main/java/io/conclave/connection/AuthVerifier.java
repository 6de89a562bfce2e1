package io.conclave.connection;

import io.conclave.protocol.RequestBody;
import io.conclave.tree.AuthId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;

/** Proves the ids that connections ask for. Only digest proves anything; ip says again what the socket said. */
final class AuthVerifier {
    private static final int MAX_CREDENTIAL_BYTES = 4096;

    private AuthVerifier() {}

    /**
     * The ids that a request proves; none if its scheme is unknown or the credentials are out of bounds.
     *
     * @param present what the connection has proved before
     * @param superUser the user that may do everything
     */
    static List<AuthId> verify(RequestBody.Auth request, List<AuthId> present, SuperUser superUser) {
        byte[] credentials = request.credentials();
        if (request.scheme().equals("ip")) {
            return present.stream()
                    .filter(id -> id.scheme().equals("ip"))
                    .limit(1)
                    .toList();
        }
        if (!request.scheme().equals("digest") || credentials == null || credentials.length > MAX_CREDENTIAL_BYTES) {
            return List.of();
        }
        AuthId id = digest(new String(credentials, StandardCharsets.UTF_8));
        boolean isSuper = superUser
                        .secret()
                        .filter(secret -> equal("super:" + secret, credentials))
                        .isPresent()
                || superUser
                        .digest()
                        .filter(digest -> equal(digest, bytes(id.id())))
                        .isPresent();
        return isSuper ? List.of(AuthId.SUPER, id) : List.of(id);
    }

    /** Takes as long for a wrong secret as for the right one. */
    private static boolean equal(String expected, byte[] actual) {
        return MessageDigest.isEqual(bytes(expected), actual);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** ZooKeeper's digest of {@code user:password}: the user, and the Base64 form of the SHA-1 of both. */
    private static AuthId digest(String userAndPassword) {
        String user = userAndPassword.split(":", 2)[0];
        try {
            byte[] hash = MessageDigest.getInstance("SHA-1").digest(userAndPassword.getBytes(StandardCharsets.UTF_8));
            return new AuthId("digest", user + ":" + Base64.getEncoder().encodeToString(hash));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-1", e);
        }
    }
}
