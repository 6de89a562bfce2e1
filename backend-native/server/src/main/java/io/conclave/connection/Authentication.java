package io.conclave.connection;

import io.conclave.protocol.AuthRequest;
import io.conclave.tree.AuthId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/** Proves the ids that connections ask for. Only digest proves anything; ip says again what the socket said. */
final class Authentication {
    private static final int MAX_CREDENTIAL_BYTES = 4096;

    private Authentication() {}

    /**
     * The id that a request proves; empty if its scheme is unknown or the credentials are out of bounds.
     *
     * @param present what the connection has proved before
     * @param adminSecret the password of the user {@code super}, who may do everything; empty if there is no such user
     */
    static Optional<AuthId> verify(AuthRequest request, List<AuthId> present, Optional<String> adminSecret) {
        byte[] credentials = request.credentials();
        if (request.scheme().equals("ip")) {
            return present.stream().filter(id -> id.scheme().equals("ip")).findFirst();
        }
        if (!request.scheme().equals("digest") || credentials == null || credentials.length > MAX_CREDENTIAL_BYTES) {
            return Optional.empty();
        }
        if (adminSecret.isPresent() && isSuper(credentials, adminSecret.get())) {
            return Optional.of(AuthId.SUPER);
        }
        return Optional.of(digest(new String(credentials, StandardCharsets.UTF_8)));
    }

    /** Takes as long for a wrong secret as for the right one. */
    private static boolean isSuper(byte[] credentials, String secret) {
        return MessageDigest.isEqual(credentials, ("super:" + secret).getBytes(StandardCharsets.UTF_8));
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
