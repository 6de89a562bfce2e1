package io.conclave.connection;

import io.conclave.protocol.ConnectionRequest;
import io.conclave.tree.AuthId;
import io.conclave.tree.IdScheme;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;

/**
 * Proves the ids that connections ask for. Only digest proves anything; ip and x509 say again what socket and TLS said.
 */
final class AuthVerifier {
    private static final int MAX_CREDENTIAL_BYTES = 4096;

    private AuthVerifier() {}

    /**
     * The ids that a request proves; none if its scheme is unknown or the credentials are out of bounds.
     *
     * @param present what the connection has proved before
     * @param security what proves to be the super user, and the hash of digests
     */
    static List<AuthId> verify(ConnectionRequest.Auth request, List<AuthId> present, ClientSecurity security) {
        byte[] credentials = request.credentials();
        if (request.scheme().equals(IdScheme.IP.word()) || request.scheme().equals(IdScheme.X509.word())) {
            return present.stream()
                    .filter(id -> id.scheme().equals(request.scheme()))
                    .limit(1)
                    .toList();
        }
        if (!request.scheme().equals(IdScheme.DIGEST.word())
                || credentials == null
                || credentials.length > MAX_CREDENTIAL_BYTES) {
            return List.of();
        }
        SuperUser superUser = security.superUser();
        AuthId id = security.digest().idOf(new String(credentials, StandardCharsets.UTF_8));
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
}
